// A loop that swaps buffers becomes one of two iterations, of which the second has the names exchanged. A word
// says whether the first was the last; then the elements are exchanged behind the loop.
// RUN: qd-opt %s --qd-expand-swaps | FileCheck %s

// CHECK-LABEL: qd.grid.kernel @ping_pong(
// CHECK-SAME:    %[[A:.*]]: memref<?xi32>, %[[B:.*]]: memref<?xi32>, %[[FLAG:.*]]: memref<i32>, %[[LEN:.*]]: index)
// CHECK:         %[[ODD:.*]] = qd.grid.control : memref<1xi32>
// CHECK:         qd.grid.do_while %[[FLAG]] : memref<i32> attributes {user.hint} {
// CHECK-NEXT:      qd.grid.for_each "step"
// CHECK-NEXT:        %[[X:.*]] = memref.load %[[A]]
// CHECK-NEXT:        memref.store %[[X]], %[[B]]
// CHECK:           qd.grid.phase "note_odd" blocks(%{{.*}}) threads(1) {
// CHECK:             %[[GOES_ON:.*]] = memref.load %[[FLAG]][]
// CHECK:             %[[LAST:.*]] = arith.cmpi eq, %[[GOES_ON]]
// CHECK:             %[[WORD:.*]] = arith.extui %[[LAST]]
// CHECK:             memref.store %[[WORD]], %[[ODD]]
// CHECK:           qd.grid.if %[[FLAG]] : memref<i32> {
// CHECK-NEXT:        qd.grid.for_each "step"
// CHECK-NEXT:          %[[Y:.*]] = memref.load %[[B]]
// CHECK-NEXT:          memref.store %[[Y]], %[[A]]
// CHECK:         qd.grid.if %[[ODD]] : memref<1xi32> {
// CHECK:           qd.grid.for_each "exchange" %[[I:.*]] to %{{.*}} {
// CHECK-NEXT:        %[[OF_A:.*]] = memref.load %[[A]][%[[I]]]
// CHECK-NEXT:        %[[OF_B:.*]] = memref.load %[[B]][%[[I]]]
// CHECK-NEXT:        memref.store %[[OF_B]], %[[A]][%[[I]]]
// CHECK-NEXT:        memref.store %[[OF_A]], %[[B]][%[[I]]]
// CHECK:           qd.grid.phase "clear_odd" blocks(%{{.*}}) threads(1) {
// CHECK:             memref.store %{{.*}}, %[[ODD]]
qd.grid.kernel @ping_pong(%a: memref<?xi32>, %b: memref<?xi32>, %flag: memref<i32>, %len: index) {
  qd.grid.do_while %flag : memref<i32> swap(%from = %a, %to = %b : memref<?xi32>, memref<?xi32>)
      attributes {user.hint} {
    qd.grid.for_each "step" %i to %len {
      %x = memref.load %from[%i] : memref<?xi32>
      memref.store %x, %to[%i] : memref<?xi32>
    }
  }
}

// Without swaps a loop stays as it is.
// CHECK-LABEL: qd.grid.kernel @plain(
// CHECK-NOT:     qd.grid.control
// CHECK:         qd.grid.do_while %{{.*}} : memref<i32> {
// CHECK-NOT:       qd.grid.if
qd.grid.kernel @plain(%a: memref<?xi32>, %flag: memref<i32>, %len: index) {
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.for_each %i to %len {
      %x = memref.load %a[%i] : memref<?xi32>
      memref.store %x, %a[%i] : memref<?xi32>
    }
  }
}

// Rows are exchanged element by element, and what has no dimension as one.
// CHECK-LABEL: qd.grid.kernel @rows(
// CHECK:         qd.grid.for_each "exchange" %[[I:.*]] to
// CHECK:           scf.for %[[J:.*]] =
// CHECK:             memref.load %{{.*}}[%[[I]], %[[J]]] : memref<?x3xf64>
// CHECK:         qd.grid.for_each "exchange" %{{.*}} to
// CHECK:           memref.load %{{.*}}[] : memref<i32>
qd.grid.kernel @rows(%a: memref<?x3xf64>, %b: memref<?x3xf64>, %x: memref<i32>, %y: memref<i32>, %flag: memref<i32>) {
  qd.grid.do_while %flag : memref<i32>
      swap(%p = %a, %q = %b, %u = %x, %v = %y : memref<?x3xf64>, memref<?x3xf64>, memref<i32>, memref<i32>) {
  }
}
