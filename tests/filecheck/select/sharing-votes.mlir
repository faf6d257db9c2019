// What several ops may be made of is made once: one ballot for a predicate and its negation, one reduction for two.

// RUN: qd-opt %s --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s

// Counts and ranks of the lanes that vote, and of those that do not, are bits of one mask.
// CHECK-LABEL: func.func private @negated
// CHECK:         %[[MASK:.*]] = qd.simt.ballot
// CHECK-NOT:     qd.simt.ballot
// CHECK:         qd.math.popcnt %[[MASK]]
// CHECK-NOT:     qd.simt.{{.*}}scan
// CHECK-NOT:     qd.simt.ballot
// CHECK-NOT:     qd.simt.count_true
// CHECK:         return
func.func private @negated(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %true = arith.constant true
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %not = arith.xori %p, %true : i1
  %one = arith.extui %p : i1 to i32
  %other = arith.extui %not : i1 to i32
  %count = qd.simt.count_true %p
  %rest = qd.simt.count_true %not
  %rank = qd.simt.exclusive_scan add %one : i32
  %rank_of_rest = qd.simt.exclusive_scan add %other : i32
  %a = arith.muli %count, %rest : i32
  %b = arith.muli %rank, %rank_of_rest : i32
  %sum = arith.addi %a, %b : i32
  memref.store %sum, %out[%t] : memref<?xi32>
  return
}

// A sum, and one of the same values by a factor that all lanes have.
// CHECK-LABEL: func.func private @factors
// CHECK:         qd.simt.reduce_all add
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @factors(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : index
  %t = qd.simt.block.thread_id
  %u = memref.load %in[%zero] : memref<?xi32>
  %x = memref.load %in[%t] : memref<?xi32>
  %ux = arith.muli %x, %u : i32
  %a = qd.simt.reduce_all add %x : i32
  %b = qd.simt.reduce_all add %ux : i32
  %sum = arith.xori %a, %b : i32
  memref.store %sum, %out[%t] : memref<?xi32>
  return
}
