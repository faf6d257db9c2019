// The example of the article: six elements about the pivot 3, by three blocks of two.
//
// Reference: quicksort.txt, "Example"
//
// $ qd-run example.mlir --arg 'arr=[6, 5, 4, 2, 1, 0]' --arg pivot=3 --arg 'below=zeros[3]' \
//     --arg 'above=zeros[3]' --arg 'out=zeros[6]' --print below --print above \
//     --print total_below --print offset_below --print offset_above --print out
// below = [0, 1, 2]
// above = [2, 1, 0]
// total_below = 3
// offset_below = [0, 0, 1]
// offset_above = [3, 5, 6]
// out = [2, 1, 0, 6, 5, 4]

qd.grid.kernel @main(%arr: memref<?xi32> {qd.name = "arr"}, %pivot: i32 {qd.name = "pivot"},
                     %below: memref<?xi32> {qd.name = "below"}, %above: memref<?xi32> {qd.name = "above"},
                     %total_below: memref<i32> {qd.name = "total_below"},
                     %offset_below: memref<?xi32> {qd.name = "offset_below"},
                     %offset_above: memref<?xi32> {qd.name = "offset_above"},
                     %out: memref<?xi32> {qd.name = "out"}, %scratch: memref<?xi32> {qd.name = "scratch"},
                     %blocks: memref<i32> {qd.name = "blocks"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %arr, %c0 : memref<?xi32>
  %num_blocks = arith.ceildivui %n, %c2 : index
  %number = arith.index_cast %num_blocks : index to i32
  qd.grid.fill %blocks = %number : memref<i32>

  // How many elements of each block are below the pivot, and how many are not.
  qd.grid.for_each "count" %b to %num_blocks {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %first = arith.muli %b, %c2 : index
    %next = arith.addi %first, %c2 : index
    %end = arith.minui %next, %n : index
    %num_below, %num_above = scf.for %i = %first to %end step %c1
        iter_args(%l = %zero, %g = %zero) -> (i32, i32) {
      %x = memref.load %arr[%i] : memref<?xi32>
      %is_below = arith.cmpi slt, %x, %pivot : i32
      %this_below = arith.extui %is_below : i1 to i32
      %this_above = arith.subi %one, %this_below : i32
      %more_below = arith.addi %l, %this_below : i32
      %more_above = arith.addi %g, %this_above : i32
      scf.yield %more_below, %more_above : i32, i32
    }
    memref.store %num_below, %below[%b] : memref<?xi32>
    memref.store %num_above, %above[%b] : memref<?xi32>
  }

  // Where the elements of each block go: those above begin after all that are below.
  qd.algo.reduce add ins(%below : memref<?xi32>) outs(%total_below : memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%blocks : memref<i32>) log256_max_n = 3
  qd.algo.exclusive_scan add ins(%below : memref<?xi32>) outs(%offset_below : memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%blocks : memref<i32>) log256_max_n = 3
  qd.algo.exclusive_scan add ins(%above : memref<?xi32>) outs(%offset_above : memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%blocks : memref<i32>) log256_max_n = 3
  qd.grid.for_each "begin after those below" %b to %num_blocks {
    %offset = memref.load %offset_above[%b] : memref<?xi32>
    %total = memref.load %total_below[] : memref<i32>
    %sum = arith.addi %offset, %total : i32
    memref.store %sum, %offset_above[%b] : memref<?xi32>
  }

  qd.grid.for_each "place" %b to %num_blocks {
    %one = arith.constant 1 : i32
    %first = arith.muli %b, %c2 : index
    %next = arith.addi %first, %c2 : index
    %end = arith.minui %next, %n : index
    %from_below = memref.load %offset_below[%b] : memref<?xi32>
    %from_above = memref.load %offset_above[%b] : memref<?xi32>
    %ends:2 = scf.for %i = %first to %end step %c1
        iter_args(%l = %from_below, %g = %from_above) -> (i32, i32) {
      %x = memref.load %arr[%i] : memref<?xi32>
      %is_below = arith.cmpi slt, %x, %pivot : i32
      %place = arith.select %is_below, %l, %g : i32
      %at = arith.index_cast %place : i32 to index
      memref.store %x, %out[%at] : memref<?xi32>
      %l1 = arith.addi %l, %one : i32
      %g1 = arith.addi %g, %one : i32
      %next_below = arith.select %is_below, %l1, %l : i32
      %next_above = arith.select %is_below, %g, %g1 : i32
      scf.yield %next_below, %next_above : i32, i32
    }
  }
}
