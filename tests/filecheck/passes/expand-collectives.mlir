// Collectives become shuffles and ballots; what the target has is kept. That the
// results are the same is tested by interpretation (passes/tests/semantics).

// RUN: qd-opt %s --qd-expand-collectives --canonicalize --cse | FileCheck %s
// RUN: qd-opt %s --qd-expand-collectives=target=vulkan:1.3 | FileCheck %s --check-prefix=KEEP
// RUN: qd-opt %s --qd-expand-collectives=target=metal | FileCheck %s --check-prefix=WORD
// RUN: qd-opt %s --qd-expand-collectives=target=cpu | FileCheck %s --check-prefix=ALL
// RUN: not qd-opt %s --qd-expand-collectives=target=gpu 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: 'builtin.module' op unknown target 'gpu': expected one of any, cpu,

// ALL-LABEL: func.func private @reductions
// ALL:         qd.simt.reduce add
// ALL:         qd.simt.reduce_all add

module {

// Neighbours first, as far as the tile goes; a butterfly where all need it.
// CHECK-LABEL: func.func private @reductions
// CHECK-SAME:    (%[[V:.*]]: i32)
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : i32
// CHECK:         %[[D1:.*]] = qd.simt.shuffle down %[[V]], %[[C1]] in_range : i32
// CHECK-NEXT:    %[[S1:.*]] = arith.addi %[[V]], %[[D1]] : i32
// CHECK-NEXT:    %[[D2:.*]] = qd.simt.shuffle down %[[S1]], %[[C2]] in_range : i32
// CHECK-NEXT:    %[[S2:.*]] = arith.addi %[[S1]], %[[D2]] : i32
// CHECK-NEXT:    %[[X1:.*]] = qd.simt.shuffle xor %[[V]], %[[C1]] : i32
// CHECK-NEXT:    %[[A1:.*]] = arith.addi %[[V]], %[[X1]] : i32
// CHECK-NEXT:    %[[X2:.*]] = qd.simt.shuffle xor %[[A1]], %[[C2]] : i32
// CHECK-NEXT:    %[[A2:.*]] = arith.addi %[[A1]], %[[X2]] : i32
// CHECK-NEXT:    %[[X4:.*]] = qd.simt.shuffle xor %[[A2]], %[[C4]] : i32
// CHECK-NEXT:    %[[A4:.*]] = arith.addi %[[A2]], %[[X4]] : i32
// CHECK-NEXT:    return %[[S2]], %[[A4]]
//
// KEEP-LABEL: func.func private @reductions
// KEEP:         qd.simt.reduce add %{{.*}} tile(2) : i32
// KEEP:         qd.simt.reduce_all add %{{.*}} tile(3) : i32
// WORD-LABEL: func.func private @reductions
// WORD-NOT:     qd.simt.reduce add
// WORD:         qd.simt.reduce_all add %{{.*}} tile(3) : i32
func.func private @reductions(%v: i32) -> (i32, i32) attributes {qd.wave = 8 : i64} {
  %0 = qd.simt.reduce add %v tile(2) : i32
  %1 = qd.simt.reduce_all add %v tile(3) : i32
  return %0, %1 : i32, i32
}

// Each step looks at the lane's number in its tile; the exclusive form puts the
// identity before the inclusive one.
// CHECK-LABEL: func.func private @scans
// CHECK-SAME:    (%[[V:.*]]: f32)
// CHECK-DAG:     %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : i32
// CHECK:         %[[LANE:.*]] = qd.simt.lane_id
// CHECK:         %[[WITHIN:.*]] = arith.andi %[[LANE]], %[[C3]]
// CHECK:         %[[U1:.*]] = qd.simt.shuffle up %[[V]], %[[C1]] in_range : f32
// CHECK:         %[[G1:.*]] = arith.cmpi uge, %[[WITHIN]], %[[C1]]
// CHECK:         %[[M1:.*]] = arith.minnumf %[[U1]], %[[V]]
// CHECK:         %[[S1:.*]] = arith.select %[[G1]], %[[M1]], %[[V]]
// CHECK:         %[[U2:.*]] = qd.simt.shuffle up %[[S1]]
// CHECK:         %[[S2:.*]] = arith.select
// CHECK:         %[[BELOW:.*]] = qd.simt.shuffle up %[[S2]], %[[C1]] in_range : f32
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[WITHIN]]
// CHECK:         %[[R:.*]] = arith.select %[[FIRST]], %[[INF]], %[[BELOW]]
// CHECK:         return %[[R]]
//
// KEEP-LABEL: func.func private @scans
// KEEP-NOT:     qd.simt.inclusive_scan
// KEEP:         qd.simt.shuffle up
// KEEP:         return
// ALL-LABEL: func.func private @scans
// ALL:         qd.simt.exclusive_scan minnumf %{{.*}} tile(2) : f32
func.func private @scans(%v: f32) -> f32 attributes {qd.wave = 8 : i64} {
  %0 = qd.simt.exclusive_scan minnumf %v tile(2) : f32
  return %0 : f32
}

// A combiner that may not commute: the lower lane's values on the left.
// CHECK-LABEL: func.func private @ordered
// CHECK-SAME:    (%[[A:.*]]: i32, %[[B:.*]]: i32)
// CHECK-DAG:     %[[XA:.*]] = qd.simt.shuffle xor %[[A]]
// CHECK-DAG:     %[[XB:.*]] = qd.simt.shuffle xor %[[B]]
// CHECK:         %[[BIT:.*]] = arith.andi %{{.*}}, %{{.*}} : i32
// CHECK:         %[[LOWER:.*]] = arith.cmpi eq, %[[BIT]]
// CHECK:         %[[LA:.*]] = arith.select %[[LOWER]], %[[A]], %[[XA]]
// CHECK:         %[[LB:.*]] = arith.select %[[LOWER]], %[[B]], %[[XB]]
// CHECK:         %[[RA:.*]] = arith.select %[[LOWER]], %[[XA]], %[[A]]
// CHECK:         %[[RB:.*]] = arith.select %[[LOWER]], %[[XB]], %[[B]]
// CHECK:         arith.muli %[[LA]], %[[RA]]
// CHECK:         arith.muli %[[LB]], %[[RA]]
func.func private @ordered(%a: i32, %b: i32) -> (i32, i32) attributes {qd.wave = 8 : i64} {
  %0, %1 = qd.simt.reduce_all %a, %b tile(1) : i32, i32 identity [1 : i32, 0 : i32] combiner {
  ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
    %x = arith.muli %la, %ra : i32
    %m = arith.muli %lb, %ra : i32
    %y = arith.addi %m, %rb : i32
    qd.yield %x, %y : i32, i32
  }
  return %0, %1 : i32, i32
}

// A combiner with undefined behaviour is applied only where both operands are
// there.
// CHECK-LABEL: func.func private @partial
// CHECK:         %[[UP:.*]] = qd.simt.shuffle up
// CHECK:         %[[THERE:.*]] = arith.cmpi uge
// CHECK:         scf.if %[[THERE]] -> (i32) {
// CHECK:           arith.divui %[[UP]]
func.func private @partial(%v: i32) -> i32 attributes {qd.wave = 8 : i64} {
  %0 = qd.simt.inclusive_scan %v tile(1) : i32 identity [1 : i32] combiner {
  ^bb0(%l: i32, %r: i32):
    %x = arith.divui %l, %r : i32
    qd.yield %x : i32
  }
  return %0 : i32
}

// One ballot of heads; the highest up to the lane bounds the scan.
// CHECK-LABEL: func.func private @segments
// CHECK:         %[[HEADS:.*]] = qd.simt.ballot %{{.*}}
// CHECK:         arith.trunci %[[HEADS]]
// CHECK:         %[[ZEROS:.*]] = math.ctlz
// CHECK:         %[[LAST:.*]] = arith.subi %{{.*}}, %[[ZEROS]]
// CHECK:         %[[REACH:.*]] = arith.subi %{{.*}}, %[[LAST]]
// CHECK:         qd.simt.shuffle up
// CHECK:         arith.cmpi uge, %[[REACH]]
// CHECK-NOT:     qd.simt.ballot
func.func private @segments(%v: i32, %h: i1) -> i32 attributes {qd.wave = 8 : i64} {
  %0 = qd.simt.segmented_reduce add %v heads %h tile(3) : i32
  return %0 : i32
}

// Votes are ballots; of a part of the subgroup, a part of one. `@full` keeps an
// op where it is the whole.
// CHECK-LABEL: func.func private @votes
// CHECK-DAG:     %[[TRUE:.*]] = arith.constant true
// CHECK-DAG:     %[[NONE:.*]] = arith.constant 0 : i64
// CHECK:         %[[NOT:.*]] = arith.xori %{{.*}}, %[[TRUE]]
// CHECK:         %[[MASK:.*]] = qd.simt.ballot %[[NOT]]
// CHECK:         arith.cmpi eq, %[[MASK]], %[[NONE]]
// CHECK:         %[[ANY:.*]] = qd.simt.ballot
// CHECK:         %[[MINE:.*]] = arith.shrui %[[ANY]]
// CHECK:         arith.andi %[[MINE]]
//
// KEEP-LABEL: func.func private @votes
// KEEP:         qd.simt.all %{{.*}} tile(3)
// KEEP-NOT:     qd.simt.all {{.*}} tile(2)
// KEEP:         return
func.func private @votes(%p: i1) -> (i1, i1, i1) attributes {qd.wave = 8 : i64} {
  %0 = qd.simt.all %p tile(3)
  %1 = qd.simt.any %p tile(2)
  %2 = qd.simt.all %p tile(2)
  return %0, %1, %2 : i1, i1, i1
}

// Three stages of one, two and three exchanges, two shuffles each, of a float's bits in their order.
// CHECK-LABEL: func.func private @sort
// CHECK:       arith.bitcast %{{.*}} : f32 to i32
// CHECK-COUNT-12: qd.simt.shuffle xor
// CHECK-NOT:   qd.simt.shuffle
// CHECK:       return
func.func private @sort(%k: f32, %v: i32) -> (f32, i32) attributes {qd.wave = 8 : i64} {
  %0, %1 = qd.simt.bitonic_sort_kv %k, %v tile(3) : f32, i32
  return %0, %1 : f32, i32
}

// CHECK-LABEL: func.func private @bits
// CHECK:         math.ctpop %{{.*}} : i64
// CHECK:         math.ctlz %{{.*}} : i32
// CHECK:         math.cttz %{{.*}} : i32
// CHECK-COUNT-6: math.ctpop %{{.*}} : i32
// CHECK-NOT:     qd.
// CHECK:         return
func.func private @bits(%x: i32, %y: i64) -> (i32, i32, i32, i32) attributes {qd.wave = 8 : i64} {
  %0 = qd.math.popcnt %y : i64
  %1 = qd.math.clz %x : i32
  %2 = qd.math.ffs %x : i32
  %3 = qd.math.fns %x, %x, %x
  return %0, %1, %2, %3 : i32, i32, i32, i32
}

// Eight subgroups of eight lanes: each reads all totals. One barrier.
// CHECK-LABEL: func.func private @block_fits
// CHECK:         %[[S:.*]] = qd.simt.block.shared : memref<8xi32, #gpu.address_space<workgroup>>
// CHECK:         qd.simt.shuffle down
// CHECK:         memref.store %{{.*}}, %[[S]]
// CHECK:         qd.simt.block.sync
// CHECK-NOT:     scf.for
// CHECK:         memref.load %[[S]]
// CHECK-NOT:     qd.simt.block.sync
// CHECK:         return
func.func private @block_fits(%a: memref<?xi32>) -> i32 attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %a[%t] : memref<?xi32>
  %0 = qd.simt.block.reduce_all add %v : i32
  return %0 : i32
}

// More subgroups than lanes: the first goes through the totals in a loop. In a
// loop of its own, an earlier round is waited for.
// CHECK-LABEL: func.func private @block_loops
// CHECK:         qd.simt.block.shared : memref<16xi32, #gpu.address_space<workgroup>>
// CHECK:         scf.for
// CHECK:           qd.simt.block.sync
// CHECK:           memref.store
// CHECK:           qd.simt.block.sync
// CHECK:           scf.if
// CHECK:             scf.for
// CHECK:           qd.simt.block.sync
func.func private @block_loops(%v: i32, %n: index, %a: memref<?xi32>) attributes {qd.threads = 128 : i64, qd.wave = 8 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = qd.simt.block.thread_id
    %0 = qd.simt.block.exclusive_scan add %v : i32
    memref.store %0, %a[%t] : memref<?xi32>
  }
  return
}

// What every target has stays.
// CHECK-LABEL: func.func private @primitives
// CHECK-NEXT:    qd.simt.shuffle idx
// CHECK-NEXT:    qd.simt.broadcast
// CHECK-NEXT:    qd.simt.ballot
// CHECK-NEXT:    qd.simt.sync
// CHECK-NEXT:    qd.simt.block.sync
// CHECK-NEXT:    return
func.func private @primitives(%v: i32, %p: i1) -> (i32, i32, i64) attributes {qd.wave = 8 : i64} {
  %0 = qd.simt.shuffle idx %v, %v : i32
  %1 = qd.simt.broadcast %v, %v : i32
  %2 = qd.simt.ballot %p
  qd.simt.sync
  qd.simt.block.sync
  return %0, %1, %2 : i32, i32, i64
}

}

// Ten rounds of two products each; keys that are the same in all rounds but the constant.
// ALL-LABEL:     func.func private @philox
// ALL-COUNT-20:    arith.mului_extended
// ALL-NOT:         arith.mului_extended
// ALL:             return
func.func private @philox(%c: i32, %k: i32) -> (i32, i32, i32, i32) attributes {qd.wave = 8 : i64} {
  %r0, %r1, %r2, %r3 = qd.math.philox %c, %c, %c, %c key %k, %k
  return %r0, %r1, %r2, %r3 : i32, i32, i32, i32
}
