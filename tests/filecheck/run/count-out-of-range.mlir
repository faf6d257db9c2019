// A count of 2 * (2^31 - 1) elements, which an i32 does not hold, is an error that says so.
// RUN: not qd-run %s --arg a=zeros[8] --arg n=4294967294 2>&1 | FileCheck %s
// CHECK: --arg n=4294967294: 4294967294 is no i32: it holds -2147483648 to 2147483647; argument 'n' of kernel 'sum' is a buffer i32[]

qd.grid.kernel @sum(%a: memref<?xi32> {qd.name = "a"}, %o: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%o : memref<1xi32>)
    scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}
