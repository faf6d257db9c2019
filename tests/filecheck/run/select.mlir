// Select on the cpu keeps the same elements as NumPy, in order: scalars and rows, with no flag, all flags or half of them set.

// REQUIRES: numpy
// RUN: %python %S/Inputs/against_numpy.py select %s qd-translate qd-run %t | FileCheck %s
// CHECK: select: {{[0-9]+}} cases agree with NumPy

qd.grid.kernel @select_i32(%a: memref<?xi32> {qd.name = "a"},
                           %flags: memref<?xi32> {qd.name = "flags"},
                           %out: memref<?xi32> {qd.name = "out"},
                           %num: memref<i32> {qd.name = "num"},
                           %scratch: memref<?xi32> {qd.name = "scratch"},
                           %n: memref<i32> {qd.name = "n"}) {
  qd.algo.select ins(%a, %flags : memref<?xi32>, memref<?xi32>) outs(%out, %num : memref<?xi32>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @select_f64(%a: memref<?xf64> {qd.name = "a"},
                           %flags: memref<?xi32> {qd.name = "flags"},
                           %out: memref<?xf64> {qd.name = "out"},
                           %num: memref<i32> {qd.name = "num"},
                           %scratch: memref<?xi32> {qd.name = "scratch"},
                           %n: memref<i32> {qd.name = "n"}) {
  qd.algo.select ins(%a, %flags : memref<?xf64>, memref<?xi32>) outs(%out, %num : memref<?xf64>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @select_f32_x3(%a: memref<?x3xf32> {qd.name = "a"},
                              %flags: memref<?xi32> {qd.name = "flags"},
                              %out: memref<?x3xf32> {qd.name = "out"},
                              %num: memref<i32> {qd.name = "num"},
                              %scratch: memref<?xi32> {qd.name = "scratch"},
                              %n: memref<i32> {qd.name = "n"}) {
  qd.algo.select ins(%a, %flags : memref<?x3xf32>, memref<?xi32>) outs(%out, %num : memref<?x3xf32>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
