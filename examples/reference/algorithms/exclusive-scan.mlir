// A running total.
//
// Reference: algorithms.txt, "qd.algorithms.exclusive_scan_{add,min,max}": Example - running total
//
// $ qd-run exclusive-scan.mlir --arg 'arr=[3, 1, 4, 1, 5, 9, 2, 6]' --arg 'count=[8]' \
//     --print out
// out = [0, 3, 4, 8, 9, 14, 23, 25]

qd.grid.kernel @main(%arr: memref<?xi32> {qd.name = "arr"}, %out: memref<?xi32> {qd.name = "out"},
                     %scratch: memref<?xi32> {qd.name = "scratch"},
                     %count: memref<1xi32> {qd.name = "count"}) {
  qd.algo.exclusive_scan add ins(%arr : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%count : memref<1xi32>) log256_max_n = 1
}
