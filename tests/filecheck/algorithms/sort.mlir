// Sort is a radix sort from the lowest digit of 8 bits up: histogram, scan and
// scatter for each, from one pair of buffers to the other.

// RUN: qd-opt %s --qd-expand-algorithms --split-input-file | FileCheck %s

// Keys are mapped to unsigned integers as the first pass reads them, and mapped
// back as the last one writes them.
// CHECK-LABEL: qd.grid.kernel @floats
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?xf32>, %[[T:[a-z0-9]+]]: memref<?xf32>, %[[S:[a-z0-9]+]]: memref<?xi32>
// CHECK:         qd.grid.phase "sort.histogram0"
// CHECK:           qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
// CHECK:           memref.load %[[K]]
// CHECK:           arith.shrsi
// CHECK:           arith.ori
// CHECK:           arith.xori
// CHECK:           qd.grid.atomic.rmw add
// CHECK:           qd.simt.block.sync
// CHECK:         qd.grid.phase "sort.scan0.last"
// CHECK:         qd.grid.phase "sort.scatter0"
// CHECK:           memref.load %[[K]]
// CHECK:           arith.xori
// CHECK:           qd.simt.block.radix_rank
// CHECK-NOT:       arith.xori
// CHECK:           memref.store %{{.*}}, %[[T]]
// CHECK:         qd.grid.phase "sort.histogram1"
// CHECK:           memref.load %[[T]]
// CHECK-NOT:       arith.xori
// CHECK:         qd.grid.phase "sort.scan1.last"
// CHECK:         qd.grid.phase "sort.scatter1"
// CHECK:           memref.load %[[T]]
// CHECK-NOT:       arith.shrsi
// CHECK:           qd.simt.block.radix_rank
// CHECK:           arith.xori
// CHECK:           memref.store %{{.*}}, %[[K]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @floats(%k: memref<?xf32>, %tk: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %tk : memref<?xf32>, memref<?xf32>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 1 end_bit = 16
}

// -----

// Unsigned keys are what they are.
// CHECK-LABEL: qd.grid.kernel @unsigned
// CHECK-COUNT-12: qd.grid.phase
// CHECK-NOT:      qd.grid.phase
// CHECK-NOT:      arith.xori
qd.grid.kernel @unsigned(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 1 unsigned
}

// -----

// An odd number of passes ends in the workspace, and with a copy of keys and
// values, here rows.
// CHECK-LABEL: qd.grid.kernel @odd
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?xi64>, %[[TK:[a-z0-9]+]]: memref<?xi64>, %[[V:[a-z0-9]+]]: memref<?x2xf32>, %[[TV:[a-z0-9]+]]: memref<?x2xf32>
// CHECK:         qd.grid.phase "sort.scatter2"
// CHECK:         qd.grid.phase "sort.copy"
// CHECK:           memref.load %[[TK]]
// CHECK:           memref.store %{{.*}}, %[[K]]
// CHECK-COUNT-2:   memref.load %[[TV]]
// CHECK-COUNT-2:   memref.store %{{.*}}, %[[V]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @odd(%k: memref<?xi64>, %tk: memref<?xi64>, %v: memref<?x2xf32>, %tv: memref<?x2xf32>,
                    %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %tk : memref<?xi64>, memref<?xi64>) values(%v, %tv : memref<?x2xf32>, memref<?x2xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1 end_bit = 24
}

// -----

// 4(2D + 1) launches for 32-bit keys.
// CHECK-LABEL: qd.grid.kernel @four_levels
// CHECK-COUNT-36: qd.grid.phase
// CHECK-NOT:      qd.grid.phase
qd.grid.kernel @four_levels(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 4
}

// -----

// 64-bit keys take twice as many.
// CHECK-LABEL: qd.grid.kernel @wide
// CHECK-COUNT-24: qd.grid.phase
// CHECK-NOT:      qd.grid.phase
qd.grid.kernel @wide(%k: memref<?xf64>, %tk: memref<?xf64>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %tk : memref<?xf64>, memref<?xf64>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 1
}
