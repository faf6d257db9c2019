// Scratch that nobody passes becomes control words at the top of the kernel, which a last phase clears.
// RUN: qd-opt %s --qd-expand-scratch | FileCheck %s

// CHECK-LABEL: qd.grid.kernel @mean(
// CHECK-DAG:     %[[MEAN:.*]] = qd.grid.control : memref<2xf64>
// CHECK-DAG:     %[[FLAG:.*]] = qd.grid.control : memref<1xi32>
// CHECK:         qd.grid.for_each
// CHECK:           memref.store %{{.*}}, %[[MEAN]]
// CHECK:         qd.grid.do_while %{{.*}} : memref<i32> {
// CHECK-NOT:       qd.grid.scratch
// CHECK:           qd.grid.if %[[FLAG]] : memref<1xi32> {
// CHECK:         qd.grid.phase "clear_scratch" blocks(%{{.*}}) threads(64) {
// CHECK:           memref.store %{{.*}}, %[[MEAN]]
// CHECK:           memref.store %{{.*}}, %[[FLAG]]
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-NEXT:}
qd.grid.kernel @mean(%again: memref<i32>, %x: f64) {
  %c1 = arith.constant 1 : index
  %mean = qd.grid.scratch : memref<2xf64>
  qd.grid.for_each %i to %c1 {
    memref.store %x, %mean[%i] : memref<2xf64>
  }
  qd.grid.do_while %again : memref<i32> {
    %flag = qd.grid.scratch : memref<1xi32>
    qd.grid.if %flag : memref<1xi32> {
    }
  }
}

// Without scratch nothing is cleared.
// CHECK-LABEL: qd.grid.kernel @without(
// CHECK-NEXT:    qd.grid.control
// CHECK-NEXT:  }
qd.grid.kernel @without() {
  %c = qd.grid.control : memref<1xi32>
}

// Scratch before all else.
// CHECK-LABEL: qd.grid.kernel @first(
// CHECK-NEXT:    %[[A:.*]] = qd.grid.control : memref<64xf32>
// CHECK-NEXT:    %[[B:.*]] = qd.grid.control : memref<3xi8>
// CHECK-NOT:     qd.grid.scratch
// CHECK:         memref.store %{{.*}}, %[[A]]
// CHECK:         memref.store %{{.*}}, %[[B]]
qd.grid.kernel @first() {
  %a = qd.grid.scratch : memref<64xf32>
  %b = qd.grid.scratch : memref<3xi8>
}
