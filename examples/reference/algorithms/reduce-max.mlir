// The largest element of an array.
//
// Reference: algorithms.txt, "qd.algorithms.reduce_{add,min,max}": reduce_max
//
// $ qd-run reduce-max.mlir --arg 'arr=[3, 1, 4, 1, 5, 9, 2, 6]' --arg 'count=[8]' --print out
// out = [9]

qd.grid.kernel @main(%arr: memref<?xi32> {qd.name = "arr"}, %out: memref<1xi32> {qd.name = "out"},
                     %scratch: memref<?xi32> {qd.name = "scratch"},
                     %count: memref<?xi32> {qd.name = "count"}) {
  %c0 = arith.constant 0 : index
  %n = qd.grid.view %count[%c0] : memref<?xi32> to memref<i32>
  qd.algo.reduce maxsi ins(%arr : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}
