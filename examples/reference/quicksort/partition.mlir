// The whole partition about one of the elements, by the algorithm that there is for it.
//
// Reference: quicksort.txt, "Partition": partition
//
// $ qd-run partition.mlir --arg 'x=[6, 5, 4, 2, 1, 0]' --arg pivot_idx=3 --arg 'y=zeros[6]' \
//     --print pivot --print total_before --print y
// pivot = 2
// total_before = 2
// y = [1, 0, 6, 5, 4, 2]

qd.grid.kernel @main(%x: memref<?xi32> {qd.name = "x"}, %y: memref<?xi32> {qd.name = "y"},
                     %pivot_idx: i32 {qd.name = "pivot_idx"}, %pivot: memref<i32> {qd.name = "pivot"},
                     %total_before: memref<i32> {qd.name = "total_before"},
                     %flags: memref<?xi32> {qd.name = "flags", qd.scratch},
                     %scratch: memref<?xi32> {qd.name = "scratch"},
                     %count: memref<i32> {qd.name = "count"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %pivot_at = arith.index_cast %pivot_idx : i32 to index
  %number = arith.index_cast %n : index to i32
  qd.grid.fill %count = %number : memref<i32>
  qd.grid.for_each "pivot" %i to %c1 {
    %p = memref.load %x[%pivot_at] : memref<?xi32>
    memref.store %p, %pivot[] : memref<i32>
  }
  qd.grid.for_each "is under" %i to %n {
    %p = memref.load %pivot[] : memref<i32>
    %v = memref.load %x[%i] : memref<?xi32>
    %is_under = arith.cmpi slt, %v, %p : i32
    %flag = arith.extui %is_under : i1 to i32
    memref.store %flag, %flags[%i] : memref<?xi32>
  }
  qd.algo.partition ins(%x, %flags : memref<?xi32>, memref<?xi32>) outs(%y, %total_before : memref<?xi32>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%count : memref<i32>) log256_max_n = 3
}
