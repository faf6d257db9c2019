// An inclusive prefix sum in place, by way of an auxiliary array.
//
// Reference: algorithms.txt, "qd.algorithms.PrefixSumExecutor"
//
// $ qd-run prefix-sum-executor.mlir --arg 'arr=[3, 1, 4, 1, 5, 9, 2, 6]' --print arr
// arr = [3, 4, 8, 9, 14, 23, 25, 31]

qd.grid.kernel @main(%arr: memref<?xi32> {qd.name = "arr"}, %auxiliary: memref<?xi32> {qd.name = "auxiliary"},
                     %scratch: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  %c0 = arith.constant 0 : index
  %length = memref.dim %arr, %c0 : memref<?xi32>
  %count = arith.index_cast %length : index to i32
  qd.grid.fill %n = %count : memref<i32>
  qd.algo.inclusive_scan add ins(%arr : memref<?xi32>) outs(%auxiliary : memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  qd.grid.for_each "copy" %i to %length {
    %x = memref.load %auxiliary[%i] : memref<?xi32>
    memref.store %x, %arr[%i] : memref<?xi32>
  }
}
