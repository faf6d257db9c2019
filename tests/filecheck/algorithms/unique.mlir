// What qd.algo.unique becomes: its phases, in order, and how many there are at each capacity.
// RUN: qd-opt %s --qd-expand-algorithms --split-input-file | FileCheck %s
// RUN: qd-opt %s --qd-expand-algorithms=target=cpu --split-input-file | FileCheck %s --check-prefix=CPU
// RUN: qd-opt %s --qd-expand-algorithms=target=nvptx:sm_90 --split-input-file | FileCheck %s --check-prefix=NVPTX

// A NaN differs from every other; heads are counted, and nothing else is.
// CHECK-LABEL: qd.grid.kernel @firsts(
// CHECK-SAME:    %[[IN:[a-z0-9]+]]: memref<?xf32>, %[[OUT:[a-z0-9]+]]: memref<?xf32>, %[[RUNS:[a-z0-9]+]]: memref<i32>
// CHECK:         qd.grid.phase "unique.last"
// CHECK:           arith.cmpf une
// CHECK:           qd.simt.block.exclusive_scan add %{{.*}} : i32
// CHECK:           memref.store %{{.*}}, %[[OUT]]
// CHECK:           memref.store %{{.*}}, %[[RUNS]][]
// CHECK-NOT:     qd.grid.phase

// One thread packs without a branch.
// CPU-LABEL:   qd.grid.kernel @firsts(
// CPU:           qd.grid.phase "unique.move"
// CPU-NOT:       qd.grid.phase

// NVPTX-LABEL: qd.grid.kernel @firsts(
// NVPTX:         qd.grid.phase "unique.last"
// NVPTX-NOT:     qd.grid.phase
qd.grid.kernel @firsts(%in: memref<?xf32>, %out: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.unique ins(%in : memref<?xf32>) outs(%out, %runs : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

// With lengths, which element the last head is goes with their number: a maximum.
// CHECK-LABEL: qd.grid.kernel @run_lengths(
// CHECK-SAME:    %[[IN:[a-z0-9]+]]: memref<?xi64>, %[[OUT:[a-z0-9]+]]: memref<?xi64>, %[[LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK:         qd.grid.phase "unique.up1"
// CHECK:         qd.grid.phase "unique.top"
// CHECK:         qd.grid.phase "unique.last"
// CHECK:           qd.simt.block.exclusive_scan %{{.*}}, %{{.*}} : i32, i32 identity [0 : i32, 0 : i32] combiner {
// CHECK:             arith.addi
// CHECK:             arith.maxui
// CHECK:           memref.store %{{.*}}, %[[OUT]]
// CHECK:           memref.store %{{.*}}, %[[LENGTHS]]
// CHECK-NOT:     qd.grid.phase

// CPU-LABEL:   qd.grid.kernel @run_lengths(
// CPU:           qd.grid.phase "unique.move"
// CPU-NOT:       qd.grid.phase

// Each element is loaded once: the one before it comes from the lane below.
// NVPTX-LABEL: qd.grid.kernel @run_lengths(
// NVPTX-SAME:    %[[IN:[a-z0-9]+]]: memref<?xi64>
// NVPTX:         qd.grid.fill
// NVPTX:         qd.grid.phase "unique.sweep"
// NVPTX:           qd.simt.shuffle idx
// NVPTX:           qd.simt.ballot
// NVPTX-NOT:       memref.load %[[IN]]
// NVPTX:         }
// NVPTX-NOT:     qd.grid.phase
qd.grid.kernel @run_lengths(%in: memref<?xi64>, %out: memref<?xi64>, %lengths: memref<?xi32>, %runs: memref<i32>,
                            %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.unique ins(%in : memref<?xi64>) outs(%out, %runs : memref<?xi64>, memref<i32>) counts(%lengths : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
}

// -----

// CHECK-LABEL:   qd.grid.kernel @four_levels(
// CHECK-COUNT-7: qd.grid.phase
// CHECK-NOT:     qd.grid.phase
// CPU-LABEL:     qd.grid.kernel @four_levels(
// CPU:           qd.grid.phase "unique.count"
// CPU:           qd.grid.phase "unique.move"
// CPU-NOT:       qd.grid.phase
// NVPTX-LABEL:   qd.grid.kernel @four_levels(
// NVPTX:         qd.grid.fill
// NVPTX:         qd.grid.phase "unique.sweep"
// NVPTX-NOT:     qd.grid.phase
qd.grid.kernel @four_levels(%in: memref<?xi8>, %out: memref<?xi8>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.unique ins(%in : memref<?xi8>) outs(%out, %runs : memref<?xi8>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}
