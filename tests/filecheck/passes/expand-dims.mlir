// A dimension that is computed becomes a choice between the extents; the only one of a buffer is taken as it is. Every target runs that.

// RUN: qd-opt %s --qd-expand-dims | FileCheck %s
// RUN: qd-opt %s --to=grid
// RUN: qd-translate %s --target=nvptx:sm_90 -o %t
// RUN: qd-translate %s --target=vulkan:1.3 -o %t
// DEFINE: %{how} = --target=cpu
// DEFINE: %{run} = qd-run %s %{how} --entry=chosen --arg a=iota[3,4] --arg o=zeros[2] --print o -q
// RUN: %{run} | FileCheck %s --check-prefix=EXTENTS
// REDEFINE: %{how} = --interpret
// RUN: %{run} | FileCheck %s --check-prefix=EXTENTS

// EXTENTS: o = [3, 4]
// CHECK-LABEL: qd.grid.kernel @chosen
// CHECK:         qd.grid.for_each %[[I:.*]] to
// CHECK:           %[[COLUMNS:.*]] = memref.dim %{{.*}}, %c1{{.*}}
// CHECK:           %[[IS_FIRST:.*]] = arith.cmpi eq, %[[I]], %c0
// CHECK:           %[[ROWS:.*]] = memref.dim %{{.*}}, %c0{{.*}}
// CHECK:           %[[EXTENT:.*]] = arith.select %[[IS_FIRST]], %[[ROWS]], %[[COLUMNS]]
// CHECK:           arith.index_cast %[[EXTENT]]
qd.grid.kernel @chosen(%a: memref<?x4xi32> {qd.name = "a"}, %o: memref<?xi32> {qd.name = "o"}) {
  %c2 = arith.constant 2 : index
  qd.grid.for_each %i to %c2 {
    %extent = memref.dim %a, %i : memref<?x4xi32>
    %x = arith.index_cast %extent : index to i32
    memref.store %x, %o[%i] : memref<?xi32>
  }
}

// An index that folds to one out of range is undefined; the compiler must survive it.
// CHECK-LABEL: qd.grid.kernel @only
// CHECK:         %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[N:.*]] = memref.dim %{{.*}}, %[[C0]]
// CHECK-NOT:     memref.dim
// CHECK:         qd.grid.for_each %{{.*}} to %[[N]]
qd.grid.kernel @only(%a: memref<?xi32>, %o: memref<?xi32>) {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %below = arith.subi %one, %two : index
  %n = memref.dim %a, %below : memref<?xi32>
  qd.grid.for_each %i to %n {
    %x = arith.index_cast %i : index to i32
    memref.store %x, %o[%i] : memref<?xi32>
  }
}

// CHECK-LABEL: qd.grid.kernel @constant
// CHECK:         arith.constant 0 : index
// CHECK-NEXT:    memref.dim
// CHECK-NEXT:    qd.grid.for_each
qd.grid.kernel @constant(%a: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each %i to %n {
    %x = arith.index_cast %i : index to i32
    memref.store %x, %a[%i] : memref<?xi32>
  }
}
