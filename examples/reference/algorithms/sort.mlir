// Keys sorted, with their original indices.
//
// Reference: algorithms.txt, "qd.algorithms.sort": Example - key-value sort
//
// $ qd-run sort.mlir --arg 'keys=[3, 1, 4, 1, 5, 9, 2, 6]' --arg 'values=iota[8]' --arg n=8 \
//     --print keys --print values
// keys = [1, 1, 2, 3, 4, 5, 6, 9]
// values = [1, 3, 6, 0, 2, 4, 7, 5]

qd.grid.kernel @main(%keys: memref<?xi32> {qd.name = "keys"}, %tmp_keys: memref<?xi32> {qd.name = "tmp_keys"},
                     %values: memref<?xi32> {qd.name = "values"},
                     %tmp_values: memref<?xi32> {qd.name = "tmp_values"},
                     %scratch: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.sort keys(%keys, %tmp_keys : memref<?xi32>, memref<?xi32>)
      values(%values, %tmp_values : memref<?xi32>, memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1 end_bit = 32
}
