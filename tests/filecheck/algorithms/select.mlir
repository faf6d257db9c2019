// The hierarchical strategy of select scans the flags and, in the last phase of the scan, moves the selected
// elements and writes their number: no further phases, no stored positions.

// RUN: qd-opt %s --qd-expand-algorithms --split-input-file | FileCheck %s

// CHECK-LABEL: qd.grid.kernel @one_level
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?xf32>, %[[F:[a-z0-9]+]]: memref<?xi32>, %[[OUT:[a-z0-9]+]]: memref<?xf32>, %[[NUM:[a-z0-9]+]]: memref<i32>
// CHECK:         qd.grid.phase "select.last"
// CHECK:           memref.load %[[F]]
// CHECK:           qd.simt.block.exclusive_scan add %{{.*}} : i32
// CHECK:           %[[V:.*]] = memref.load %[[A]]
// CHECK:           memref.store %[[V]], %[[OUT]]
// CHECK:           memref.store %{{.*}}, %[[NUM]][] : memref<i32>
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @one_level(%a: memref<?xf32>, %f: memref<?xi32>, %out: memref<?xf32>, %num: memref<i32>,
                          %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.select ins(%a, %f : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

// Rows move scalar by scalar, all loads before the stores; long ones in a loop.
// CHECK-LABEL: qd.grid.kernel @rows
// CHECK:         qd.grid.phase "select.up1"
// CHECK:         qd.grid.phase "select.top"
// CHECK:         qd.grid.phase "select.last"
// CHECK-COUNT-3:   memref.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x3xf32>
// CHECK-COUNT-3:   memref.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x3xf32>
qd.grid.kernel @rows(%a: memref<?x3xf32>, %f: memref<?xi32>, %out: memref<?x3xf32>, %num: memref<1xi32>,
                     %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.select ins(%a, %f : memref<?x3xf32>, memref<?xi32>) outs(%out, %num : memref<?x3xf32>, memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 strategy = "hierarchical"
}

// -----

// CHECK-LABEL: qd.grid.kernel @long_rows
// CHECK:         scf.for
// CHECK:           memref.load %{{.*}} : memref<?x100xi8>
// CHECK-NEXT:      memref.store %{{.*}} : memref<?x100xi8>
qd.grid.kernel @long_rows(%a: memref<?x100xi8>, %f: memref<?xi32>, %out: memref<?x100xi8>, %num: memref<i32>,
                          %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.select ins(%a, %f : memref<?x100xi8>, memref<?xi32>) outs(%out, %num : memref<?x100xi8>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

// CHECK-LABEL: qd.grid.kernel @four_levels
// CHECK-COUNT-7: qd.grid.phase
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @four_levels(%a: memref<?xi64>, %f: memref<?xi32>, %out: memref<?xi64>, %num: memref<i32>,
                            %s: memref<?xi32>, %n: memref<i64>) {
  qd.algo.select ins(%a, %f : memref<?xi64>, memref<?xi32>) outs(%out, %num : memref<?xi64>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i64>) log256_max_n = 4 strategy = "hierarchical"
}
