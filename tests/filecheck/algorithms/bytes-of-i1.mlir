// An i1 takes a byte of memory: a cache line that is prefetched has 128 of them.

// RUN: qd-opt %s --qd-expand-algorithms=target=nvptx:sm_90 | FileCheck %s

// CHECK-LABEL: qd.grid.kernel @unique
// CHECK:         %[[LINE:.*]] = arith.constant 128 : index
// CHECK-NEXT:    arith.muli %{{.*}}, %[[LINE]] : index
// CHECK:         memref.prefetch %{{.*}} : memref<?xi1>
qd.grid.kernel @unique(%a: memref<?xi1>, %o: memref<?xi1>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.unique ins(%a : memref<?xi1>) outs(%o, %runs : memref<?xi1>, memref<i32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
}
