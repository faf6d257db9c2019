// Segments, matches and clusters become ranges of masks; what a guard forbids stays.

// RUN: qd-opt %s --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s

// The place in a run of equal values, and how many marked ones are in it so far.
// CHECK-LABEL: func.func private @runs
// CHECK-COUNT-2: qd.simt.ballot
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @runs(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %v, %zero : i32
  %p = arith.cmpi sgt, %v, %one : i32
  %ones = arith.extui %p : i1 to i32
  %place = qd.simt.segmented_reduce add %one heads %h : i32
  %marked = qd.simt.segmented_reduce add %ones heads %h : i32
  %sum = arith.addi %place, %marked : i32
  memref.store %sum, %out[%t] : memref<?xi32>
  return
}

// Sums of floats keep their order.
// CHECK-LABEL: func.func private @floats
// CHECK:         qd.simt.segmented_reduce add %{{.*}} heads %{{.*}} : f32
// CHECK-NOT:     arith.subf
// CHECK:         return
func.func private @floats(%in: memref<?xf32>, %heads: memref<?xi32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %f = memref.load %in[%t] : memref<?xf32>
  %v = memref.load %heads[%t] : memref<?xi32>
  %h = arith.cmpi slt, %v, %zero : i32
  %s = qd.simt.segmented_reduce add %f heads %h : f32
  memref.store %s, %out[%t] : memref<?xf32>
  return
}

// No heads: a scan. All heads: nothing.
// CHECK-LABEL: func.func private @constants
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @constants(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %true = arith.constant true
  %false = arith.constant false
  %t = qd.simt.block.thread_id
  %f = memref.load %in[%t] : memref<?xf32>
  %a = qd.simt.segmented_reduce add %f heads %false : f32
  %b = qd.simt.segmented_reduce add %f heads %true : f32
  %c = arith.addf %a, %b : f32
  memref.store %c, %out[%t] : memref<?xf32>
  return
}

// Peers by a bit, a vote and a count from one ballot of it and one of its opposite.
// CHECK-LABEL: func.func private @votes
// CHECK-NOT:     qd.simt.match_any
// CHECK-NOT:     qd.simt.any
// CHECK-NOT:     qd.simt.count_true
// CHECK:         return
func.func private @votes(%in: memref<?xi32>, %out: memref<?xi32>, %masks: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi slt, %v, %zero : i32
  %bit = arith.extui %p : i1 to i32
  %peers = qd.simt.match_any %bit bits(1) : i32
  memref.store %peers, %masks[%t] : memref<?xi64>
  %count = qd.simt.count_true %p tile(3)
  memref.store %count, %out[%t] : memref<?xi32>
  return
}
