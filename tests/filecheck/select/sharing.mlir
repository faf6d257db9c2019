// Two changes that help together alone: a vote and a sum of a predicate by one ballot, where each
// of them is cheaper by itself than by a ballot of its own.

// RUN: qd-opt %s --qd-select-lowering='target=nvptx:sm_90 costs=%S/Inputs/dear-ballot.json explain=true' 2>&1 | FileCheck %s

// CHECK-LABEL:   @alone threads 64
// CHECK-NOT:       by any-is-ballot
// CHECK-LABEL:   @together threads 64
// CHECK:           as it was: {{.*}}, now
// CHECK:           qd.simt.any ({{.*}}) -> (ne (ballot v{{[0-9]+}}) 0:i64) by any-is-ballot

// CHECK-LABEL: func.func private @alone
// CHECK:         qd.simt.any
// CHECK-NOT:     qd.simt.ballot
// CHECK:         return
func.func private @alone(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %any = qd.simt.any %p
  %word = arith.extui %any : i1 to i32
  memref.store %word, %out[%t] : memref<?xi32>
  return
}

// CHECK-LABEL: func.func private @together
// CHECK:         %[[MASK:.*]] = qd.simt.ballot
// CHECK-NOT:     qd.simt
// CHECK-DAG:     arith.cmpi ne, %[[MASK]]
// CHECK-DAG:     qd.math.popcnt %[[MASK]]
// CHECK-NOT:     qd.simt
// CHECK:         return
func.func private @together(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %one = arith.extui %p : i1 to i32
  %any = qd.simt.any %p
  %word = arith.extui %any : i1 to i32
  %count = qd.simt.reduce_all add %one : i32
  %sum = arith.addi %word, %count : i32
  memref.store %sum, %out[%t] : memref<?xi32>
  return
}
