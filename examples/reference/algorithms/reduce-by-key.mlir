// The sums of runs of equal keys.
//
// Reference: algorithms.txt, "qd.algorithms.reduce_by_key_add": Example - sum consecutive runs of equal keys
//
// $ qd-run reduce-by-key.mlir --arg 'keys_in=[1, 1, 1, 2, 2, 3, 3, 3]' \
//     --arg 'values_in=[5, 2, 1, 4, 4, 6, 1, 1]' --arg 'count=[8]' --print num_runs \
//     --print 'keys_out[:num_runs]' --print 'values_out[:num_runs]'
// num_runs = [3]
// keys_out[:num_runs] = [1, 2, 3]
// values_out[:num_runs] = [8, 8, 8]

qd.grid.kernel @main(%keys_in: memref<?xi32> {qd.name = "keys_in"},
                     %values_in: memref<?xi32> {qd.name = "values_in"},
                     %keys_out: memref<?xi32> {qd.name = "keys_out"},
                     %values_out: memref<?xi32> {qd.name = "values_out"},
                     %num_runs: memref<1xi32> {qd.name = "num_runs"},
                     %scratch: memref<?xi32> {qd.name = "scratch"},
                     %count: memref<1xi32> {qd.name = "count"}) {
  qd.algo.reduce_by_key add ins(%keys_in, %values_in : memref<?xi32>, memref<?xi32>)
      outs(%keys_out, %values_out, %num_runs : memref<?xi32>, memref<?xi32>, memref<1xi32>)
      scratch(%scratch : memref<?xi32>) count(%count : memref<1xi32>) log256_max_n = 1
}
