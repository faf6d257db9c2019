// Each pixel and the next one, added; the last is alone.
qd.grid.kernel @blur(%image: memref<?xi32> {qd.name = "image"}, %out: memref<?xi32> {qd.name = "out"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = memref.dim %image, %zero : memref<?xi32>
  %last = arith.subi %n, %one : index
  qd.grid.for_each %i to %n {
    %j = arith.addi %i, %one : index
    %next = arith.minui %j, %last : index
    %is_last = arith.cmpi eq, %i, %last : index
    %a = memref.load %image[%i] : memref<?xi32>
    %b = memref.load %image[%next] : memref<?xi32>
    %both = arith.addi %a, %b : i32
    %value = arith.select %is_last, %a, %both : i32
    memref.store %value, %out[%i] : memref<?xi32>
  }
}

qd.grid.kernel @sum(%x: memref<?xi32> {qd.name = "x"}, %out: memref<1xi32> {qd.name = "out"},
                    %scratch: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce add ins(%x : memref<?xi32>) outs(%out : memref<1xi32>)
    scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
