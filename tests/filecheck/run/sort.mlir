// Sorts on the cpu are stable and ordered as the unsigned images of the keys are: every key type, with and without values, and the low bits alone.

// REQUIRES: numpy
// RUN: %python %S/Inputs/against_numpy.py sort %s qd-translate qd-run %t | FileCheck %s
// CHECK: sort: {{[0-9]+}} cases agree with NumPy

qd.grid.kernel @sort_i32(%keys: memref<?xi32> {qd.name = "keys"},
                         %tmp_keys: memref<?xi32> {qd.name = "tmp_keys"},
                         %scratch: memref<?xi32> {qd.name = "scratch"},
                         %n: memref<i32> {qd.name = "n"}) {
  qd.algo.sort keys(%keys, %tmp_keys : memref<?xi32>, memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @sort_u32_kv(%keys: memref<?xi32> {qd.name = "keys", qd.dtype = "u32"},
                            %tmp_keys: memref<?xi32> {qd.name = "tmp_keys", qd.dtype = "u32"},
                            %values: memref<?xi32> {qd.name = "values"},
                            %tmp_values: memref<?xi32> {qd.name = "tmp_values"},
                            %scratch: memref<?xi32> {qd.name = "scratch"},
                            %n: memref<i32> {qd.name = "n"}) {
  qd.algo.sort keys(%keys, %tmp_keys : memref<?xi32>, memref<?xi32>)
      values(%values, %tmp_values : memref<?xi32>, memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 unsigned
}

qd.grid.kernel @sort_f32(%keys: memref<?xf32> {qd.name = "keys"},
                         %tmp_keys: memref<?xf32> {qd.name = "tmp_keys"},
                         %scratch: memref<?xi32> {qd.name = "scratch"},
                         %n: memref<i32> {qd.name = "n"}) {
  qd.algo.sort keys(%keys, %tmp_keys : memref<?xf32>, memref<?xf32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @sort_f64_kv(%keys: memref<?xf64> {qd.name = "keys"},
                            %tmp_keys: memref<?xf64> {qd.name = "tmp_keys"},
                            %values: memref<?xi32> {qd.name = "values"},
                            %tmp_values: memref<?xi32> {qd.name = "tmp_values"},
                            %scratch: memref<?xi32> {qd.name = "scratch"},
                            %n: memref<i32> {qd.name = "n"}) {
  qd.algo.sort keys(%keys, %tmp_keys : memref<?xf64>, memref<?xf64>)
      values(%values, %tmp_values : memref<?xi32>, memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @sort_i64(%keys: memref<?xi64> {qd.name = "keys"},
                         %tmp_keys: memref<?xi64> {qd.name = "tmp_keys"},
                         %scratch: memref<?xi32> {qd.name = "scratch"},
                         %n: memref<i32> {qd.name = "n"}) {
  qd.algo.sort keys(%keys, %tmp_keys : memref<?xi64>, memref<?xi64>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @sort_u64(%keys: memref<?xi64> {qd.name = "keys", qd.dtype = "u64"},
                         %tmp_keys: memref<?xi64> {qd.name = "tmp_keys", qd.dtype = "u64"},
                         %scratch: memref<?xi32> {qd.name = "scratch"},
                         %n: memref<i32> {qd.name = "n"}) {
  qd.algo.sort keys(%keys, %tmp_keys : memref<?xi64>, memref<?xi64>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 unsigned
}

qd.grid.kernel @sort_u32_16bit_kv(%keys: memref<?xi32> {qd.name = "keys", qd.dtype = "u32"},
                                  %tmp_keys: memref<?xi32> {qd.name = "tmp_keys", qd.dtype = "u32"},
                                  %values: memref<?xi32> {qd.name = "values"},
                                  %tmp_values: memref<?xi32> {qd.name = "tmp_values"},
                                  %scratch: memref<?xi32> {qd.name = "scratch"},
                                  %n: memref<i32> {qd.name = "n"}) {
  qd.algo.sort keys(%keys, %tmp_keys : memref<?xi32>, memref<?xi32>)
      values(%values, %tmp_values : memref<?xi32>, memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 unsigned end_bit = 16
}
