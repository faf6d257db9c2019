// On many cores a reduction takes two launches, whatever the capacity: a thread
// has several elements of each tile, whose loads are under way together.

// RUN: qd-opt %s --qd-expand-algorithms=target=nvptx:sm_90 --split-input-file | FileCheck %s

// CHECK-LABEL: qd.grid.kernel @reduce
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?xf32>
// CHECK:         qd.grid.phase "reduce.tiles" blocks(%{{.*}}) threads(256)
// CHECK-NOT:       qd.simt.block.shared
// CHECK:           scf.for
// CHECK-COUNT-23:  memref.load %[[A]]
// CHECK:           qd.simt.block.reduce add
// CHECK:         qd.grid.phase "reduce.last"
// CHECK:           qd.simt.block.reduce add
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @reduce(%a: memref<?xf32>, %out: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
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

// Where order matters, a thread gets neighbours, and blocks combine tile by tile.
// CHECK-LABEL: qd.grid.kernel @in_order
// CHECK:         qd.grid.phase "reduce.tiles"
// CHECK:           %[[TILE:.*]] = qd.simt.block.shared : memref<5888xi32, #gpu.address_space<workgroup>>
// CHECK:           scf.for
// CHECK:             memref.store %{{.*}}, %[[TILE]]
// CHECK:             qd.simt.block.sync
// CHECK:             memref.load %[[TILE]]
// CHECK:             qd.simt.block.reduce_all
// CHECK:         qd.grid.phase "reduce.last"
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
