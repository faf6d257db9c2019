// With forward progress, a sort of what fits a tile takes one launch. A longer one counts all
// digits in one read and takes one launch a digit.

// RUN: qd-opt %s --qd-expand-algorithms=target=nvptx:sm_90 --split-input-file --verify-diagnostics | FileCheck %s
// RUN: qd-translate %s --target=nvptx:sm_90 --emit=asm | FileCheck %s --check-prefix=PTX
// RUN: qd-translate %s --target=nvptx:sm_80 --emit=asm | FileCheck %s --check-prefix=PTX
// RUN: qd-translate %s --target=nvptx:sm_100 --emit=asm | FileCheck %s --check-prefix=PTX

// CHECK-LABEL: qd.grid.kernel @pairs
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?xi32>, %{{[a-z0-9]+}}: memref<?xi32>, %[[V:[a-z0-9]+]]: memref<?xi64>, %{{[a-z0-9]+}}: memref<?xi64>, %[[S:[a-z0-9]+]]: memref<?xi32>
// CHECK:         qd.grid.phase "sort.tile"
// CHECK:         qd.grid.fill %[[S]]
// CHECK:         qd.grid.phase "sort.histogram"
// A counter of each digit for each of 32 lanes.
// CHECK:           qd.simt.block.shared : memref<32768xi32, #gpu.address_space<workgroup>>
// CHECK:           memref.load %[[K]]
// CHECK:           qd.grid.atomic.rmw add %{{.*}} block relaxed
// CHECK:           qd.grid.atomic.rmw add %{{.*}}, %[[S]][%{{.*}}] device relaxed
// CHECK:         qd.grid.phase "sort.sweep0"
// CHECK:           qd.grid.atomic.rmw add %{{.*}}, %[[S]]
// CHECK:           memref.load %[[K]]
// CHECK:           memref.prefetch %[[V]]
// CHECK:           qd.simt.match_any %{{.*}} bits(8)
// CHECK:         qd.grid.phase "sort.sweep1"
// CHECK:         qd.grid.phase "sort.sweep2"
// CHECK:         qd.grid.phase "sort.sweep3"
// CHECK-NOT:     qd.grid.phase

// Nothing is kept in memory that could be in registers.
// PTX:     .entry sort_sweep1
// PTX-NOT: .local
// PTX:     vote.sync.ballot.b32
// PTX-NOT: .local
// PTX:     ld.relaxed.gpu.global.b32
// PTX-NOT: .local
qd.grid.kernel @pairs(%k: memref<?xi32>, %tk: memref<?xi32>, %v: memref<?xi64>, %tv: memref<?xi64>,
                      %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>) values(%v, %tv : memref<?xi64>, memref<?xi64>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}

// -----

// For keys of 8 bytes half of the digits may be enough, which the last block to count its keys
// decides. The first digit of keys alone need not be stable, unless some bits do not take part; an
// odd number of passes ends with a copy.
// CHECK-LABEL: qd.grid.kernel @keys
// CHECK:         %[[FINISHED:.*]] = qd.grid.control : memref<1xi32>
// CHECK:         %[[UPPER:.*]] = qd.grid.control : memref<1xi32>
// CHECK:         %[[LOWER:.*]] = qd.grid.control : memref<1xi32>
// CHECK:         %[[WHOLE:.*]] = qd.grid.control : memref<1xi32>
// CHECK:         qd.grid.phase "sort.histogram"
// CHECK:           qd.grid.atomic.rmw add %{{.*}}, %[[FINISHED]][%{{.*}}] device acq_rel
// CHECK-DAG:       memref.store %{{.*}}, %[[UPPER]]
// CHECK-DAG:       memref.store %{{.*}}, %[[LOWER]]
// CHECK-DAG:       memref.store %{{.*}}, %[[WHOLE]]
// CHECK:         qd.grid.if %[[UPPER]]
// CHECK:           qd.grid.phase "sort.sweep4"
// CHECK-NOT:         qd.simt.match_any
// CHECK:           qd.grid.phase "sort.sweep5"
// CHECK:             qd.simt.match_any
// CHECK:           qd.grid.phase "sort.sweep7"
// CHECK:           qd.grid.phase "sort.repair"
// CHECK:             memref.store %{{.*}}, %[[UPPER]]
// CHECK:             qd.grid.atomic.store %{{.*}}, %[[WHOLE]]
// CHECK:           qd.grid.phase "sort.seams"
// CHECK:         qd.grid.if %[[LOWER]]
// CHECK:           qd.grid.phase "sort.sweep0"
// CHECK:             memref.store %{{.*}}, %[[LOWER]]
// CHECK-NOT:         qd.simt.match_any
// CHECK:           qd.grid.phase "sort.sweep1"
// CHECK:             qd.simt.match_any
// CHECK:           qd.grid.phase "sort.sweep3"
// CHECK-NOT:       qd.grid.phase
// CHECK:         qd.grid.if %[[WHOLE]]
// CHECK:           qd.grid.phase "sort.sweep0"
// CHECK:           qd.grid.phase "sort.sweep7"
// CHECK-NOT:     qd.grid.phase
// CHECK-LABEL: qd.grid.kernel @part
// CHECK:         qd.grid.phase "sort.sweep0"
// CHECK:           qd.simt.match_any
// CHECK:         qd.grid.phase "sort.copy"
qd.grid.kernel @keys(%k: memref<?xf64>, %tk: memref<?xf64>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %tk : memref<?xf64>, memref<?xf64>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
qd.grid.kernel @part(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 end_bit = 24
}

// -----

// A capacity of 256 fits a tile.
// CHECK-LABEL: qd.grid.kernel @small
// CHECK:         qd.grid.phase "sort.tile"
// CHECK-NOT:     qd.grid.{{phase|fill}}
qd.grid.kernel @small(%k: memref<?xi32>, %tk: memref<?xi32>, %v: memref<?x3xf32>, %tv: memref<?x3xf32>,
                      %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>) values(%v, %tv : memref<?x3xf32>, memref<?x3xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

// Halves are chosen neither for fewer bits nor for keys with rows.
// CHECK-LABEL: qd.grid.kernel @rows
// CHECK-NOT:     qd.grid.if
// CHECK-LABEL: qd.grid.kernel @bits
// CHECK-NOT:     qd.grid.if
qd.grid.kernel @rows(%k: memref<?xi64>, %tk: memref<?xi64>, %v: memref<?x3xf32>, %tv: memref<?x3xf32>,
                     %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %tk : memref<?xi64>, memref<?xi64>) values(%v, %tv : memref<?x3xf32>, memref<?x3xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
qd.grid.kernel @bits(%k: memref<?xi64>, %tk: memref<?xi64>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %tk : memref<?xi64>, memref<?xi64>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 end_bit = 48
}
