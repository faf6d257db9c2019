// An algorithm among other phases: the sum of squares, and each square's share of it.
//
// Reference: algorithms.txt, "Common conventions": Composition shape
//
// $ qd-run my-pipeline.mlir --arg 'arr=[1, 3, 2, 1, 1]' --arg 'out=zeros[1]' \
//     --arg 'count=[4, 0]' --print out --print 'arr[:4]'
// out = [15]
// arr[:4] = [15, 135, 60, 15]

qd.grid.kernel @main(%arr: memref<?xf32> {qd.name = "arr"}, %out: memref<?xf32> {qd.name = "out"},
                     %scratch: memref<?xi32> {qd.name = "scratch"},
                     %count: memref<?xi32> {qd.name = "count"}) {
  %c0 = arith.constant 0 : index
  %length = memref.dim %arr, %c0 : memref<?xf32>
  %n = qd.grid.view %count[%c0] : memref<?xi32> to memref<i32>
  %total = qd.grid.view %out[%c0] : memref<?xf32> to memref<f32>
  qd.grid.for_each "square" %i to %length count(%n : memref<i32>) {
    %x = memref.load %arr[%i] : memref<?xf32>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %arr[%i] : memref<?xf32>
  }
  qd.algo.reduce add ins(%arr : memref<?xf32>) outs(%total : memref<f32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  qd.grid.for_each "scale" %i to %length count(%n : memref<i32>) {
    %x = memref.load %arr[%i] : memref<?xf32>
    %sum = memref.load %total[] : memref<f32>
    %y = arith.mulf %x, %sum : f32
    memref.store %y, %arr[%i] : memref<?xf32>
  }
}
