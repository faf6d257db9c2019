// Keys sorted in place.
//
// Reference: algorithms.txt, "qd.algorithms.parallel_sort(keys, values=None)": keys
//
// $ qd-run parallel-sort.mlir --arg 'keys=[3, 1, 4, 1, 5, 9, 2, 6]' --print keys
// keys = [1, 1, 2, 3, 4, 5, 6, 9]

qd.grid.kernel @main(%keys: memref<?xi32> {qd.name = "keys"}) {
  qd.algo.parallel_sort keys(%keys : memref<?xi32>)
}
