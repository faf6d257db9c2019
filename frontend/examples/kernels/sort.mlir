qd.grid.kernel @sort(%keys: memref<?xi32> {qd.name = "keys", qd.dtype = "u32"},
                     %tmp: memref<?xi32> {qd.name = "tmp", qd.dtype = "u32"},
                     %scratch: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.sort keys(%keys, %tmp : memref<?xi32>, memref<?xi32>) scratch(%scratch : memref<?xi32>)
    count(%n : memref<i32>) log256_max_n = 3 unsigned
}
