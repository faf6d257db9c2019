// The hierarchical strategy of partition scans the flags once. The number of flagged elements, behind which
// the others go, is written before the last phase, which reads it there.

// RUN: qd-opt %s --qd-expand-algorithms --split-input-file | FileCheck %s

// CHECK-LABEL: qd.grid.kernel @two_levels
// CHECK-SAME:    %[[NUM:[a-z0-9]+]]: memref<i32>
// CHECK:         qd.grid.phase "partition.up1"
// CHECK:           memref.store %{{.*}}, %[[NUM]][]
// CHECK:         qd.grid.phase "partition.top"
// CHECK:           memref.store %{{.*}}, %[[NUM]][]
// CHECK:         qd.grid.phase "partition.last"
// CHECK-NOT:       memref.store %{{.*}}, %[[NUM]][]
// CHECK:           memref.load %[[NUM]][]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @two_levels(%num: memref<i32>, %a: memref<?xi32>, %f: memref<?xi32>, %out: memref<?xi32>,
                           %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.partition ins(%a, %f : memref<?xi32>, memref<?xi32>) outs(%out, %num : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 strategy = "hierarchical"
}

// -----

// A single tile has the total without a scan of the levels.
// CHECK-LABEL: qd.grid.kernel @one_level
// CHECK:         qd.grid.phase "partition.last"
// CHECK:           qd.simt.block.exclusive_scan add
// CHECK:           qd.simt.block.reduce_all add
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @one_level(%a: memref<?x2xf64>, %f: memref<?xi32>, %out: memref<?x2xf64>, %num: memref<i32>,
                          %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.partition ins(%a, %f : memref<?x2xf64>, memref<?xi32>) outs(%out, %num : memref<?x2xf64>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

// CHECK-LABEL: qd.grid.kernel @four_levels
// CHECK-COUNT-7: qd.grid.phase
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @four_levels(%a: memref<?xi32>, %f: memref<?xi32>, %out: memref<?xi32>, %num: memref<i32>,
                            %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.partition ins(%a, %f : memref<?xi32>, memref<?xi32>) outs(%out, %num : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4 strategy = "hierarchical"
}
