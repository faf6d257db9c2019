// Equal terms take the place of dearer ones, and every collective stays in its place. Each rule by itself is in `rules-….mlir`
// of its family.

// RUN: qd-opt %s --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s

// A count and a rank share the ballot that is there.
// CHECK-LABEL: func.func private @ranks
// CHECK:         %[[P:.*]] = arith.cmpi
// CHECK:         %[[MASK:.*]] = qd.simt.ballot %[[P]]
// CHECK-DAG:     qd.math.popcnt %[[MASK]]
// CHECK-DAG:     %[[BELOW:.*]] = arith.andi %[[MASK]]
// CHECK-DAG:     qd.math.popcnt %[[BELOW]]
// CHECK-NOT:     qd.simt.{{.*}}scan
// CHECK-NOT:     qd.simt.reduce
// CHECK:         return
func.func private @ranks(%in: memref<?xi32>, %out: memref<?xi32>, %masks: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %mask = qd.simt.ballot %p
  memref.store %mask, %masks[%t] : memref<?xi64>
  %one = arith.extui %p : i1 to i32
  %count = qd.simt.reduce_all add %one : i32
  %rank = qd.simt.exclusive_scan add %one : i32
  %sum = arith.addi %count, %rank : i32
  memref.store %sum, %out[%t] : memref<?xi32>
  return
}

// A collective stays in its branch and on its side of a barrier: a mask is not made anew where
// only some lanes are, and none is kept across a barrier in place of another.
// CHECK-LABEL: func.func private @places
// CHECK:         %[[FIRST:.*]] = qd.simt.ballot
// CHECK:         scf.if
// CHECK:           qd.math.popcnt %[[FIRST]]
// CHECK-NOT:       count_true
// CHECK:         qd.simt.block.sync
// CHECK:         qd.simt.ballot
// CHECK:         return
func.func private @places(%in: memref<?xi32>, %out: memref<?xi32>, %masks: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %mask = qd.simt.ballot %p
  scf.if %p {
    %count = qd.math.popcnt %mask : i64
    memref.store %count, %out[%t] : memref<?xi32>
  }
  qd.simt.block.sync
  %again = qd.simt.ballot %p
  memref.store %again, %masks[%t] : memref<?xi64>
  return
}

// What is uniform is read from no lane, though that makes the op its own operand.
// CHECK-LABEL: func.func private @uniform
// CHECK:         %[[U:.*]] = memref.load
// CHECK-NOT:     broadcast
// CHECK:         memref.store %[[U]]
func.func private @uniform(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : index
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%zero] : memref<?xi32>
  %first = qd.simt.broadcast_first %v : i32
  memref.store %first, %out[%t] : memref<?xi32>
  return
}
