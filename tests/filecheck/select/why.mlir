// What is said of an op that went are the rules without which it would not be equal to what took its place, and not others
// that have to do with that: here what the body computes itself. The op that is used instead says it, too.

// RUN: qd-opt %s --qd-select-lowering='target=nvptx:sm_90 explain' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=EXPLAIN --input-file=%t

// EXPLAIN: qd.simt.count_true ({{.*}}) -> (popcnt (ballot v0)) by count-is-popcnt{{$}}
// EXPLAIN: qd.simt.broadcast_first ({{.*}}) -> (popcnt (ballot v0)) by first-of-uniform{{$}}

// CHECK-LABEL: func.func private @count_and_broadcast
// CHECK: %[[M:.*]] = qd.simt.ballot
// CHECK: %[[N:.*]] = qd.math.popcnt %[[M]] {qd.why = ["count-is-popcnt", "first-of-uniform"]} : i64
// CHECK: %[[A:.*]] = arith.muli %[[N]], %[[N]] : i32
// CHECK: arith.addi %[[A]], %[[N]] : i32
func.func private @count_and_broadcast(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %c0 = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %c0 : i32
  %m = qd.simt.ballot %p
  %n = qd.math.popcnt %m : i64
  %k = qd.simt.count_true %p
  %u = qd.simt.broadcast_first %n : i32
  %a = arith.muli %n, %k : i32
  %r = arith.addi %a, %u : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}
