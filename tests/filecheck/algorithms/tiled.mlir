// On a throughput-oriented target a reduction takes one launch, whatever the capacity: a thread has
// several loads in flight, and the last block to finish combines the blocks' aggregates.

// RUN: qd-opt %s --qd-expand-algorithms=target=nvptx:sm_90 --split-input-file | FileCheck %s

// Blocks take rows of elements in turn. The loads of a full round have no bounds check.
// CHECK-LABEL: qd.grid.kernel @reduce
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?xf32>, %[[OUT:[a-z0-9]+]]: memref<1xf32>, %[[S:[a-z0-9]+]]: memref<?xi32>
// CHECK:         %[[FINISHED:.*]] = qd.grid.control : memref<1xi32>
// CHECK:         qd.grid.phase "reduce" blocks(%{{.*}}) threads(256)
// CHECK:           %[[LAST:.*]] = qd.simt.block.shared : memref<1xi32, #gpu.address_space<workgroup>>
// CHECK-NOT:       qd.simt.block.shared
// CHECK:           scf.for
// CHECK-NOT:         scf.if
// CHECK-COUNT-16:  memref.load %[[A]]
// CHECK-COUNT-4:   memref.load %[[A]]
// CHECK:           arith.cmpi ult
// CHECK:           scf.if
// CHECK-COUNT-12:  memref.load %[[A]]
// CHECK:           qd.simt.block.reduce add
// CHECK:           memref.store %{{.*}}, %[[S]]
// CHECK:           %[[BEFORE:.*]] = qd.grid.atomic.rmw add %{{.*}}, %[[FINISHED]][%{{.*}}] device acq_rel
// CHECK:           arith.cmpi eq, %[[BEFORE]]
// CHECK:           memref.store %{{.*}}, %[[LAST]]
// CHECK:           qd.simt.block.sync
// CHECK:           memref.load %[[LAST]]
// CHECK:           memref.load %[[S]]
// CHECK:           qd.simt.block.reduce add
// CHECK:           memref.store %{{.*}}, %[[OUT]]
// CHECK:           qd.grid.atomic.store %{{.*}}, %[[FINISHED]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @reduce(%a: memref<?xf32>, %out: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}

// -----

// Each has its own control word.
// CHECK-LABEL: qd.grid.kernel @two
// CHECK:         %[[FIRST:.*]] = qd.grid.control
// CHECK:         qd.grid.phase
// CHECK:           qd.grid.atomic.rmw add %{{.*}}, %[[FIRST]]
// CHECK:         %[[SECOND:.*]] = qd.grid.control
// CHECK:         qd.grid.phase
// CHECK:           qd.grid.atomic.rmw add %{{.*}}, %[[SECOND]]
qd.grid.kernel @two(%a: memref<?xf32>, %out: memref<1xf32>, %other: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
  qd.algo.reduce minnumf ins(%a : memref<?xf32>) outs(%other : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}

// -----

// CHECK-LABEL: qd.grid.kernel @one_block
// CHECK-COUNT-1: qd.grid.phase
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @one_block(%a: memref<?xf32>, %out: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

// Where order matters, a thread gets consecutive elements, and blocks combine tile by tile.
// CHECK-LABEL: qd.grid.kernel @in_order
// CHECK:         qd.grid.phase "reduce"
// CHECK:           qd.simt.block.shared : memref<1xi32
// CHECK:           %[[TILE:.*]] = qd.simt.block.shared : memref<4096xi32, #gpu.address_space<workgroup>>
// CHECK:           scf.for
// CHECK:             memref.store %{{.*}}, %[[TILE]]
// CHECK:             qd.simt.block.sync
// CHECK:             memref.load %[[TILE]]
// CHECK:             qd.simt.block.reduce_all
// CHECK:           qd.grid.atomic.rmw
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @in_order(%a: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
      identity [0 : i32] combiner {
      ^bb0(%x: i32, %y: i32):
        %c0 = arith.constant 0 : i32
        %none = arith.cmpi eq, %x, %c0 : i32
        %r = arith.select %none, %y, %x : i32
        qd.yield %r : i32
      }
}
