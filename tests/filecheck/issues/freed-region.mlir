// A value that is used before the region that defines it, which then does not parse: what is left of the use no longer
// points into it. (It did, and the process aborted.)
// NO-ROUNDTRIP: it does not parse
// RUN: not qd-opt %s -o %t 2>&1 | FileCheck %s
// RUN: not ls %t
// CHECK: [[@LINE+10]]:3: error: redefinition of block '^bb0'
// CHECK-NOT: error

qd.yield %x, %y : i64, i64
qd.grid.kernel @k(%in: memref<?xi64>, %n: memref<i32>) {
  qd.algo.inclusive_scan ins(%in : memref<?xi64>) outs(%in : memref<?xi64>)
      scratch(%in : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3 identity [0 : i64] combiner {
  ^bb0(%l: i64, %r: i64):
    %x = arith.constant 1 : i64
    %y = arith.constant 2 : i64
  ^bb0(%l: i64, %r: i64):
  }
}
