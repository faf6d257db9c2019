// The first elements of runs on the cpu are NumPy's, and so are the runs' lengths; a NaN is a run of its own.

// REQUIRES: numpy
// RUN: %python %S/Inputs/against_numpy.py unique %s qd-translate qd-run %t | FileCheck %s
// CHECK: unique: {{[0-9]+}} cases agree with NumPy

qd.grid.kernel @firsts_i32(%in: memref<?xi32> {qd.name = "in"}, %out: memref<?xi32> {qd.name = "out"},
                           %runs: memref<i32> {qd.name = "runs"}, %scratch: memref<?xi32> {qd.name = "scratch"},
                           %n: memref<i32> {qd.name = "n"}) {
  qd.algo.unique ins(%in : memref<?xi32>) outs(%out, %runs : memref<?xi32>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @lengths_u64(%in: memref<?xi64> {qd.name = "in", qd.dtype = "u64"},
                            %out: memref<?xi64> {qd.name = "out", qd.dtype = "u64"},
                            %lengths: memref<?xi32> {qd.name = "lengths"}, %runs: memref<i32> {qd.name = "runs"},
                            %scratch: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.unique ins(%in : memref<?xi64>) outs(%out, %runs : memref<?xi64>, memref<i32>) counts(%lengths : memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @lengths_f32(%in: memref<?xf32> {qd.name = "in"}, %out: memref<?xf32> {qd.name = "out"},
                            %lengths: memref<?xi32> {qd.name = "lengths"}, %runs: memref<i32> {qd.name = "runs"},
                            %scratch: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.unique ins(%in : memref<?xf32>) outs(%out, %runs : memref<?xf32>, memref<i32>) counts(%lengths : memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
