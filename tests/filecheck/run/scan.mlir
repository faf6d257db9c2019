// Scans on the cpu are those of NumPy: integers bit for bit, floats up to rounding.

// REQUIRES: numpy
// RUN: %python %S/Inputs/against_numpy.py scan %s qd-translate qd-run %t | FileCheck %s
// CHECK: scan: {{[0-9]+}} cases agree with NumPy

qd.grid.kernel @scan_exclusive_add_i32(%a: memref<?xi32> {qd.name = "a"},
                                       %out: memref<?xi32> {qd.name = "out"},
                                       %scratch: memref<?xi32> {qd.name = "scratch"},
                                       %n: memref<i32> {qd.name = "n"}) {
  qd.algo.exclusive_scan add ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @scan_inclusive_add_u64(%a: memref<?xi64> {qd.name = "a", qd.dtype = "u64"},
                                       %out: memref<?xi64> {qd.name = "out", qd.dtype = "u64"},
                                       %scratch: memref<?xi64> {qd.name = "scratch"},
                                       %n: memref<i32> {qd.name = "n"}) {
  qd.algo.inclusive_scan add ins(%a : memref<?xi64>) outs(%out : memref<?xi64>)
      scratch(%scratch : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @scan_exclusive_add_f32(%a: memref<?xf32> {qd.name = "a"},
                                       %out: memref<?xf32> {qd.name = "out"},
                                       %scratch: memref<?xi32> {qd.name = "scratch"},
                                       %n: memref<i32> {qd.name = "n"}) {
  qd.algo.exclusive_scan add ins(%a : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @scan_inclusive_add_f64(%a: memref<?xf64> {qd.name = "a"},
                                       %out: memref<?xf64> {qd.name = "out"},
                                       %scratch: memref<?xi64> {qd.name = "scratch"},
                                       %n: memref<i32> {qd.name = "n"}) {
  qd.algo.inclusive_scan add ins(%a : memref<?xf64>) outs(%out : memref<?xf64>)
      scratch(%scratch : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @scan_exclusive_max_i64(%a: memref<?xi64> {qd.name = "a"},
                                       %out: memref<?xi64> {qd.name = "out"},
                                       %scratch: memref<?xi64> {qd.name = "scratch"},
                                       %n: memref<i32> {qd.name = "n"}) {
  qd.algo.exclusive_scan maxsi ins(%a : memref<?xi64>) outs(%out : memref<?xi64>)
      scratch(%scratch : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @scan_inclusive_max_u32(%a: memref<?xi32> {qd.name = "a", qd.dtype = "u32"},
                                       %out: memref<?xi32> {qd.name = "out", qd.dtype = "u32"},
                                       %scratch: memref<?xi32> {qd.name = "scratch"},
                                       %n: memref<i32> {qd.name = "n"}) {
  qd.algo.inclusive_scan maxui ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
