// Equal collectives of one block become one; others stay: in other blocks, past
// barriers, with other operands, attributes or combiners.

// RUN: qd-opt %s --qd-merge-collectives | FileCheck %s

// CHECK-LABEL: func.func @equal
// CHECK-SAME:    (%[[V:.*]]: i32, %{{.*}}: i32, %[[P:.*]]: i1)
// CHECK-NEXT:    %[[S:.*]] = qd.simt.reduce_all add %[[V]] : i32
// CHECK-NEXT:    %[[M:.*]] = qd.simt.ballot %[[P]]
// CHECK-NEXT:    return %[[S]], %[[S]], %[[M]], %[[M]]
func.func @equal(%v: i32, %w: i32, %p: i1) -> (i32, i32, i64, i64) {
  %0 = qd.simt.reduce_all add %v : i32
  %1 = qd.simt.ballot %p
  %2 = qd.simt.reduce_all add %v : i32
  %3 = qd.simt.ballot %p
  return %0, %2, %1, %3 : i32, i32, i64, i64
}

// Combiners are compared by what they do, whatever their values are called.
// CHECK-LABEL: func.func @regions
// CHECK-COUNT-2: qd.simt.inclusive_scan
// CHECK-NOT:     qd.simt.inclusive_scan
// CHECK:         return %[[A:.*]], %[[A]], %{{.*}} : i32, i32, i32
func.func @regions(%v: i32) -> (i32, i32, i32) {
  %0 = qd.simt.inclusive_scan %v : i32 identity [0 : i32] combiner {
  ^bb0(%l: i32, %r: i32):
    %x = arith.addi %l, %r : i32
    qd.yield %x : i32
  }
  %1 = qd.simt.inclusive_scan %v : i32 identity [0 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    %sum = arith.addi %a, %b : i32
    qd.yield %sum : i32
  }
  %2 = qd.simt.inclusive_scan %v : i32 identity [0 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    %sum = arith.addi %b, %a : i32
    qd.yield %sum : i32
  }
  return %0, %1, %2 : i32, i32, i32
}

// CHECK-LABEL: func.func @different
// CHECK-COUNT-6: qd.simt
// CHECK-NEXT:    return
func.func @different(%v: i32, %w: i32) -> (i32, i32, i32, i32, i32, i32) {
  %0 = qd.simt.reduce_all add %v : i32
  %1 = qd.simt.reduce_all add %w : i32
  %2 = qd.simt.reduce_all xor %v : i32
  %3 = qd.simt.reduce_all add %v tile(2) : i32
  %4 = qd.simt.reduce add %v : i32
  %5 = qd.simt.block.reduce_all add %v : i32
  return %0, %1, %2, %3, %4, %5 : i32, i32, i32, i32, i32, i32
}

// In a branch other threads take part, or none.
// CHECK-LABEL: func.func @regions_apart
// CHECK:         qd.simt.any
// CHECK:         scf.if
// CHECK-NEXT:      qd.simt.any
// CHECK-NEXT:      scf.yield
// CHECK:         } else {
// CHECK-NEXT:      qd.simt.any
// CHECK-NEXT:      scf.yield
func.func @regions_apart(%p: i1, %c: i1) -> (i1, i1) {
  %0 = qd.simt.any %p
  %1 = scf.if %c -> i1 {
    %2 = qd.simt.any %p
    %3 = qd.simt.any %p
    scf.yield %3 : i1
  } else {
    %4 = qd.simt.any %p
    scf.yield %4 : i1
  }
  return %0, %1 : i1, i1
}

// Nothing is merged past a barrier, nor are barriers.
// CHECK-LABEL: func.func @barriers
// CHECK-NEXT:    qd.simt.any
// CHECK-NEXT:    qd.simt.block.sync
// CHECK-NEXT:    qd.simt.block.sync
// CHECK-NEXT:    qd.simt.any
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      qd.simt.sync
// CHECK-NEXT:    }
// CHECK-NEXT:    qd.simt.any
func.func @barriers(%p: i1, %c: i1) -> (i1, i1, i1) {
  %0 = qd.simt.any %p
  qd.simt.block.sync
  qd.simt.block.sync
  %1 = qd.simt.any %p
  scf.if %c {
    qd.simt.sync
  }
  %2 = qd.simt.any %p
  return %0, %1, %2 : i1, i1, i1
}
