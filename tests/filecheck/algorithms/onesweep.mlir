// Sort in one sweep a digit: what fits a tile in one launch; else a clear, a
// histogram of all digits, and a sweep for each. The buffers' length says which.

// RUN: qd-opt %s --qd-expand-algorithms=target=nvptx:sm_90 --split-input-file | FileCheck %s
// RUN: qd-translate %s --target=nvptx:sm_90 --emit=asm | FileCheck %s --check-prefix=PTX

// CHECK-LABEL: qd.grid.kernel @keys
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?xi32>, %[[T:[a-z0-9]+]]: memref<?xi32>, %[[S:[a-z0-9]+]]: memref<?xi32>
// CHECK:         qd.grid.phase "sort.tile"
// CHECK:         qd.grid.fill %[[S]]
// CHECK:         qd.grid.phase "sort.histogram" {{.*}} threads(512)
// CHECK:           qd.grid.atomic.rmw add %{{.*}} block relaxed
// CHECK:           qd.grid.atomic.rmw add %{{.*}}, %[[S]]{{.*}} device relaxed
// Later passes put the keys of a digit in order: the first does without ballots.
// CHECK:         qd.grid.phase "sort.sweep0" {{.*}} threads(512)
// CHECK:           qd.grid.atomic.rmw add %{{.*}}, %[[S]]{{.*}} device relaxed
// CHECK-COUNT-16:  memref.load %[[K]]
// CHECK-NOT:       qd.simt.ballot
// CHECK:           qd.grid.atomic.store %{{.*}}, %[[S]]{{.*}} device relaxed
// CHECK:           qd.grid.atomic.load %[[S]]{{.*}} device relaxed
// CHECK-NOT:       qd.simt.ballot
// CHECK:           memref.store %{{.*}}, %[[T]]
// CHECK:         qd.grid.phase "sort.sweep1"
// CHECK-COUNT-128: qd.simt.ballot
// CHECK:         qd.grid.phase "sort.sweep2"
// CHECK:         qd.grid.phase "sort.sweep3"
// CHECK:           memref.store %{{.*}}, %[[K]]
// CHECK-NOT:     qd.grid.{{phase|fill}}

// Nothing is kept in memory that could be in registers.
// PTX:     .entry keys_sort_sweep1
// PTX-NOT: .local
// PTX:     vote.sync.ballot.b32
// PTX-NOT: .local
// PTX:     ld.relaxed.gpu.global.b32
// PTX-NOT: .local
qd.grid.kernel @keys(%k: memref<?xi32>, %t: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %t : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 3 unsigned
}

// -----

// An odd number of passes ends with a copy.
// CHECK-LABEL: qd.grid.kernel @odd
// CHECK:         qd.grid.phase "sort.tile"
// CHECK:         qd.grid.phase "sort.histogram"
// CHECK-COUNT-3: qd.grid.phase "sort.sweep{{[0-9]}}"
// CHECK:         qd.grid.phase "sort.copy"
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @odd(%k: memref<?xf64>, %t: memref<?xf64>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %t : memref<?xf64>, memref<?xf64>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 4 end_bit = 24
}

// -----

// 256 keys fit a tile.
// CHECK-LABEL: qd.grid.kernel @small
// CHECK:         qd.grid.phase "sort.tile"
// CHECK-NOT:     qd.grid.{{phase|fill}}
qd.grid.kernel @small(%k: memref<?xi32>, %t: memref<?xi32>, %v: memref<?x3xf32>, %w: memref<?x3xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %t : memref<?xi32>, memref<?xi32>) values(%v, %w : memref<?x3xf32>, memref<?x3xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}
