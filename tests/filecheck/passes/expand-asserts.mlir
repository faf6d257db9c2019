// An assertion that fails is noted in a record that the launch passes, by the first lane that claims it. Texts and
// places are in the kernel, not in the body.
// RUN: qd-opt %s --qd-expand-asserts | FileCheck %s

// CHECK-LABEL: func.func private @both(
// CHECK-SAME:    %[[I:.*]]: index, %[[P:.*]]: i1, %[[RECORD:.*]]: memref<16xi32>, %[[FIRST:.*]]: i32)
// CHECK-NOT:     cf.assert
// CHECK:         %[[INSIDE:.*]] = arith.cmpi ult, %[[I]],
// CHECK:         %[[NUMBER:.*]] = arith.addi %[[FIRST]],
// CHECK:         scf.if
// CHECK:           %[[BEFORE:.*]] = qd.grid.atomic.cas %{{.*}}, %{{.*}}, %[[RECORD]][%{{.*}}] device relaxed
// CHECK:           arith.cmpi eq, %[[BEFORE]]
// CHECK:           scf.if
// CHECK:             memref.store %[[NUMBER]], %[[RECORD]]
// CHECK:             qd.simt.block.id
// CHECK:             qd.simt.block.thread_id
// CHECK:             arith.index_castui %[[I]] : index to i32
// CHECK-NOT:         i64
// CHECK:             qd.grid.atomic.store %{{.*}}, %[[RECORD]][%{{.*}}] device release
// CHECK-NEXT:      }
// A condition that is no comparison of integers has no numbers.
// CHECK:         arith.addi %[[FIRST]],
// CHECK:         qd.grid.atomic.cas
// CHECK-NOT:     to i64
// CHECK:         return
func.func private @both(%i: index, %p: i1) attributes {qd.threads = 64 : i64} {
  %c5 = arith.constant 5 : index
  %inside = arith.cmpi ult, %i, %c5 : index
  cf.assert %inside, "inside"
  cf.assert %p, "given"
  return
}

// Signed numbers of 32 bits keep their sign, and no integer of 64 bits is needed.
// CHECK-LABEL: func.func private @narrow(
// CHECK:         arith.shrsi %arg0
// CHECK-NOT:     i64
// CHECK:         return
func.func private @narrow(%x: i32, %y: i32) attributes {qd.threads = 64 : i64} {
  %less = arith.cmpi slt, %x, %y : i32
  cf.assert %less, "less"
  return
}

// A body without assertions stays as it is.
// CHECK-LABEL: func.func private @none(
// CHECK-SAME:    %{{[a-z0-9]*}}: memref<?xi32>) attributes
func.func private @none(%a: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  return
}

// CHECK-LABEL: qd.grid.kernel @k(
// CHECK:         %[[R:.*]], %[[F:.*]] = qd.grid.faults [{at = "{{.*}}expand-asserts.mlir:[[#]]:3", relation = "ult", text = "inside"}, {at = "{{.*}}expand-asserts.mlir:[[#]]:3", text = "given"}] : memref<16xi32>
// CHECK-NEXT:    qd.grid.launch 0 @both blocks(%{{.*}}) args(%{{.*}}, %{{.*}}, %[[R]], %[[F]] : index, i1, memref<16xi32>, i32) {qd.phase = "p"}
// CHECK-NEXT:    qd.grid.launch 1 @none blocks(%{{.*}}) args(%{{[a-z0-9]*}} : memref<?xi32>) after [0]
qd.grid.kernel @k(%a: memref<?xi32>, %i: index, %p: i1) {
  qd.grid.launch 0 @both blocks(%i) args(%i, %p : index, i1) {qd.phase = "p"}
  qd.grid.launch 1 @none blocks(%i) args(%a : memref<?xi32>) after [0]
}
