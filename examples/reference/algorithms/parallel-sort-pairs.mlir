// Keys sorted in place, with their values.
//
// Reference: algorithms.txt, "qd.algorithms.parallel_sort(keys, values=None)": keys, vals
//
// $ qd-run parallel-sort-pairs.mlir --arg 'keys=[3, 1, 4, 8, 5, 9, 2, 6]' --arg 'vals=iota[8]' \
//     --print keys --print vals
// keys = [1, 2, 3, 4, 5, 6, 8, 9]
// vals = [1, 6, 0, 2, 4, 7, 3, 5]

qd.grid.kernel @main(%keys: memref<?xi32> {qd.name = "keys"}, %vals: memref<?xf32> {qd.name = "vals"}) {
  qd.algo.parallel_sort keys(%keys : memref<?xi32>) values(%vals : memref<?xf32>)
}
