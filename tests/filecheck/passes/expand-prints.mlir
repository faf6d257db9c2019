// What threads print is written into a ring that the launch passes: a record is claimed by an addition, and completed
// last. Formats and places are in the kernel, not in the body.
// RUN: qd-opt %s --qd-expand-prints | FileCheck %s

// CHECK-LABEL: func.func private @prints(
// CHECK-SAME:    %[[I:.*]]: index, %[[X:.*]]: f16, %[[Y:.*]]: f32, %[[RING:.*]]: memref<65540xi32>, %[[FIRST:.*]]: i32)
// CHECK-NOT:     gpu.printf
// CHECK:         %[[SITE:.*]] = arith.addi %[[FIRST]],
// CHECK:         %[[NUMBER:.*]] = qd.grid.atomic.rmw add %{{.*}}, %[[RING]][%{{.*}}] device relaxed
// CHECK:         %[[READ:.*]] = qd.grid.atomic.load %[[RING]][%{{.*}}] device relaxed
// CHECK:         %[[HELD:.*]] = arith.subi %[[NUMBER]], %[[READ]]
// CHECK:         arith.cmpi ult, %[[HELD]]
// CHECK:         scf.if
// CHECK:           memref.store %[[SITE]], %[[RING]]
// CHECK:           qd.simt.block.id
// CHECK:           qd.simt.block.thread_id
// CHECK:           arith.index_castui %[[I]] : index to i32
// Smaller floats are printed as those of 32 bits, of which no device needs integers of 64.
// CHECK:           %[[WIDE:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK:           arith.bitcast %[[WIDE]] : f32 to i32
// CHECK:           arith.bitcast %[[Y]] : f32 to i32
// CHECK-NOT:       i64
// CHECK:           qd.grid.atomic.store %{{.*}}, %[[RING]][%{{.*}}] device release
// CHECK-NEXT:    } else {
// CHECK:           qd.grid.atomic.rmw add %{{.*}}, %[[RING]][%{{.*}}] device relaxed
// CHECK:         return
func.func private @prints(%i: index, %x: f16, %y: f32) attributes {qd.threads = 64 : i64} {
  gpu.printf "%d: %f, %g\0A", %i, %x, %y : index, f16, f32
  return
}

// A body that prints nothing stays as it is.
// CHECK-LABEL: func.func private @none(
// CHECK-SAME:    %{{[a-z0-9]*}}: memref<?xi32>) attributes
func.func private @none(%a: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  return
}

// CHECK-LABEL: qd.grid.kernel @k(
// CHECK:         %[[R:.*]], %[[F:.*]] = qd.grid.prints [{at = "{{.*}}expand-prints.mlir:[[#]]:3", text = "%d: %f, %g\0A", types = "i64,f16,f32"}] : memref<65540xi32>
// CHECK-NEXT:    qd.grid.launch 0 @prints blocks(%{{.*}}) args(%{{.*}}, %[[R]], %[[F]] : index, f16, f32, memref<65540xi32>, i32) {qd.phase = "p"}
qd.grid.kernel @k(%a: memref<?xi32>, %i: index, %x: f16, %y: f32) {
  qd.grid.launch 0 @prints blocks(%i) args(%i, %x, %y : index, f16, f32) {qd.phase = "p"}
  qd.grid.launch 1 @none blocks(%i) args(%a : memref<?xi32>) after [0]
}
