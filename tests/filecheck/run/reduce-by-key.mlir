// Runs of equal keys on the cpu are NumPy's, and so are their sums; a NaN is a run of its own.

// REQUIRES: numpy
// RUN: %python %S/Inputs/against_numpy.py reduce_by_key %s qd-translate qd-run %t | FileCheck %s
// CHECK: reduce_by_key: {{[0-9]+}} cases agree with NumPy

qd.grid.kernel @by_i32_i32(%keys: memref<?xi32> {qd.name = "keys"},
                           %values: memref<?xi32> {qd.name = "values"},
                           %keys_out: memref<?xi32> {qd.name = "keys_out"},
                           %sums: memref<?xi32> {qd.name = "sums"},
                           %runs: memref<i32> {qd.name = "runs"},
                           %scratch: memref<?xi32> {qd.name = "scratch"},
                           %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce_by_key add ins(%keys, %values : memref<?xi32>, memref<?xi32>)
      outs(%keys_out, %sums, %runs : memref<?xi32>, memref<?xi32>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @by_u64_f32(%keys: memref<?xi64> {qd.name = "keys", qd.dtype = "u64"},
                           %values: memref<?xf32> {qd.name = "values"},
                           %keys_out: memref<?xi64> {qd.name = "keys_out", qd.dtype = "u64"},
                           %sums: memref<?xf32> {qd.name = "sums"},
                           %runs: memref<i32> {qd.name = "runs"},
                           %scratch: memref<?xi32> {qd.name = "scratch"},
                           %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce_by_key add ins(%keys, %values : memref<?xi64>, memref<?xf32>)
      outs(%keys_out, %sums, %runs : memref<?xi64>, memref<?xf32>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @by_f32_i64(%keys: memref<?xf32> {qd.name = "keys"},
                           %values: memref<?xi64> {qd.name = "values"},
                           %keys_out: memref<?xf32> {qd.name = "keys_out"},
                           %sums: memref<?xi64> {qd.name = "sums"},
                           %runs: memref<i32> {qd.name = "runs"},
                           %scratch: memref<?xi32> {qd.name = "scratch"},
                           %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce_by_key add ins(%keys, %values : memref<?xf32>, memref<?xi64>)
      outs(%keys_out, %sums, %runs : memref<?xf32>, memref<?xi64>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @by_f64_f64(%keys: memref<?xf64> {qd.name = "keys"},
                           %values: memref<?xf64> {qd.name = "values"},
                           %keys_out: memref<?xf64> {qd.name = "keys_out"},
                           %sums: memref<?xf64> {qd.name = "sums"},
                           %runs: memref<i32> {qd.name = "runs"},
                           %scratch: memref<?xi32> {qd.name = "scratch"},
                           %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce_by_key add ins(%keys, %values : memref<?xf64>, memref<?xf64>)
      outs(%keys_out, %sums, %runs : memref<?xf64>, memref<?xf64>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
