// An inclusive scan becomes an up-sweep of block reduces, a scan of the topmost
// level by one block, and a down-sweep that ends in the output: 2D − 1 phases.

// RUN: qd-opt %s --qd-expand-algorithms --split-input-file | FileCheck %s

// CHECK-LABEL: qd.grid.kernel @one_level
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?xi32>, %[[OUT:[a-z0-9]+]]: memref<?xi32>, %[[S:[a-z0-9]+]]: memref<?xi32>
// CHECK:         qd.grid.phase "inclusive_scan.last"
// CHECK:           memref.load %[[A]]
// CHECK:           %[[R:.*]] = qd.simt.block.inclusive_scan maxsi
// CHECK:           memref.store %[[R]], %[[OUT]]
// CHECK-NOT:     %[[S]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @one_level(%a: memref<?xi32>, %out: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.inclusive_scan maxsi ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

// The upper levels are scanned exclusively, to each tile's exclusive prefix.
// CHECK-LABEL: qd.grid.kernel @three_levels
// CHECK:         qd.grid.phase "inclusive_scan.up1"
// CHECK:           qd.simt.block.reduce add
// CHECK:         qd.grid.phase "inclusive_scan.up2"
// CHECK:           qd.simt.block.reduce add
// CHECK:         qd.grid.phase "inclusive_scan.top"
// CHECK:           qd.simt.block.exclusive_scan add
// CHECK:         qd.grid.phase "inclusive_scan.down1"
// CHECK:           qd.simt.block.exclusive_scan add
// CHECK:         qd.grid.phase "inclusive_scan.last"
// CHECK:           qd.simt.block.inclusive_scan add
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @three_levels(%a: memref<?xf64>, %out: memref<?xf64>, %s: memref<?xi64>, %n: memref<i32>) {
  qd.algo.inclusive_scan add ins(%a : memref<?xf64>) outs(%out : memref<?xf64>)
      scratch(%s : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

// CHECK-LABEL: qd.grid.kernel @four_levels
// CHECK-COUNT-7: qd.grid.phase
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @four_levels(%a: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.inclusive_scan maxnumf ins(%a : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}
