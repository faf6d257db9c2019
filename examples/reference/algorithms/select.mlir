// The flagged elements.
//
// Reference: algorithms.txt, "qd.algorithms.select": Example - keep the flagged elements
//
// $ qd-run select.mlir --arg 'arr=[10, 11, 12, 13, 14, 15, 16, 17]' \
//     --arg 'flags=[1, 0, 1, 1, 0, 0, 1, 0]' --arg 'count=[8]' --print num_out \
//     --print 'out[:num_out]'
// num_out = [4]
// out[:num_out] = [10, 12, 13, 16]

qd.grid.kernel @main(%arr: memref<?xi32> {qd.name = "arr"}, %flags: memref<?xi32> {qd.name = "flags"},
                     %out: memref<?xi32> {qd.name = "out"}, %num_out: memref<1xi32> {qd.name = "num_out"},
                     %scratch: memref<?xi32> {qd.name = "scratch"},
                     %count: memref<1xi32> {qd.name = "count"}) {
  qd.algo.select ins(%arr, %flags : memref<?xi32>, memref<?xi32>)
      outs(%out, %num_out : memref<?xi32>, memref<1xi32>)
      scratch(%scratch : memref<?xi32>) count(%count : memref<1xi32>) log256_max_n = 1
}
