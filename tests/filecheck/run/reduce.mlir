// Reductions on the cpu are those of NumPy: integers bit for bit, whatever the size and the shape of the input.

// REQUIRES: numpy
// RUN: %python %S/Inputs/against_numpy.py reduce %s qd-translate qd-run %t | FileCheck %s
// CHECK: reduce: {{[0-9]+}} cases agree with NumPy

qd.grid.kernel @reduce_add_i32(%a: memref<?xi32> {qd.name = "a"},
                               %out: memref<1xi32> {qd.name = "out"},
                               %scratch: memref<?xi32> {qd.name = "scratch"},
                               %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @reduce_add_u64(%a: memref<?xi64> {qd.name = "a", qd.dtype = "u64"},
                               %out: memref<1xi64> {qd.name = "out", qd.dtype = "u64"},
                               %scratch: memref<?xi64> {qd.name = "scratch"},
                               %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce add ins(%a : memref<?xi64>) outs(%out : memref<1xi64>)
      scratch(%scratch : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @reduce_add_f32(%a: memref<?xf32> {qd.name = "a"},
                               %out: memref<1xf32> {qd.name = "out"},
                               %scratch: memref<?xi32> {qd.name = "scratch"},
                               %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @reduce_add_f64(%a: memref<?xf64> {qd.name = "a"},
                               %out: memref<1xf64> {qd.name = "out"},
                               %scratch: memref<?xi64> {qd.name = "scratch"},
                               %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce add ins(%a : memref<?xf64>) outs(%out : memref<1xf64>)
      scratch(%scratch : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @reduce_max_i32(%a: memref<?xi32> {qd.name = "a"},
                               %out: memref<1xi32> {qd.name = "out"},
                               %scratch: memref<?xi32> {qd.name = "scratch"},
                               %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce maxsi ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @reduce_max_u32(%a: memref<?xi32> {qd.name = "a", qd.dtype = "u32"},
                               %out: memref<1xi32> {qd.name = "out", qd.dtype = "u32"},
                               %scratch: memref<?xi32> {qd.name = "scratch"},
                               %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce maxui ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @reduce_max_i64(%a: memref<?xi64> {qd.name = "a"},
                               %out: memref<1xi64> {qd.name = "out"},
                               %scratch: memref<?xi64> {qd.name = "scratch"},
                               %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce maxsi ins(%a : memref<?xi64>) outs(%out : memref<1xi64>)
      scratch(%scratch : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @reduce_min_f32(%a: memref<?xf32> {qd.name = "a"},
                               %out: memref<1xf32> {qd.name = "out"},
                               %scratch: memref<?xi32> {qd.name = "scratch"},
                               %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce minnumf ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
