// Two kernels; rows of three, unsigned data, a scalar.
qd.grid.kernel @select(%a: memref<?x3xf32> {qd.name = "points"}, %flags: memref<?xi32> {qd.name = "flags"},
                       %out: memref<?x3xf32> {qd.name = "kept"}, %num: memref<i32> {qd.name = "num"},
                       %s: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.select ins(%a, %flags : memref<?x3xf32>, memref<?xi32>) outs(%out, %num : memref<?x3xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

qd.grid.kernel @scale(%a: memref<?xi32> {qd.name = "a", qd.dtype = "u32"}, %by: i32 {qd.name = "by"}) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each "scale" %i to %len {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.muli %x, %by : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
