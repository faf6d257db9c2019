// How many elements of each block of two are under a pivot of the segment, and how many are not.
//
// Reference: quicksort.txt, "Count above/below"
//
// $ qd-run count.mlir --arg offset=1 --arg 'x=[9, 6, 5, 4, 2, 1, 0]' --arg pivot_idx=2 --arg n=5 \
//     --arg 'under_pivot=zeros[3]' --arg 'over_pivot=zeros[3]' --print under_pivot \
//     --print over_pivot
// under_pivot = [0, 1, 1]
// over_pivot = [2, 1, 0]

qd.grid.kernel @main(%offset: i32 {qd.name = "offset"}, %x: memref<?xi32> {qd.name = "x"},
                     %under_pivot: memref<?xi32> {qd.name = "under_pivot"},
                     %over_pivot: memref<?xi32> {qd.name = "over_pivot"},
                     %pivot_idx: i32 {qd.name = "pivot_idx"}, %n: i32 {qd.name = "n"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %block_size = arith.constant 2 : index
  %start = arith.index_cast %offset : i32 to index
  %count = arith.index_cast %n : i32 to index
  %idx = arith.index_cast %pivot_idx : i32 to index
  %pivot_at = arith.addi %start, %idx : index
  %blocks = arith.ceildivui %count, %block_size : index
  qd.grid.for_each "count" %pid to %blocks {
    %zero = arith.constant 0 : i32
    %pivot = memref.load %x[%pivot_at] : memref<?xi32>
    %first = arith.muli %pid, %block_size : index
    %next = arith.addi %first, %block_size : index
    %end = arith.minui %next, %count : index
    %num = scf.for %i = %first to %end step %c1 iter_args(%sum = %zero) -> (i32) {
      %at = arith.addi %start, %i : index
      %item = memref.load %x[%at] : memref<?xi32>
      %is_under = arith.cmpi slt, %item, %pivot : i32
      %this = arith.extui %is_under : i1 to i32
      %more = arith.addi %sum, %this : i32
      scf.yield %more : i32
    }
    %here = arith.subi %end, %first : index
    %items = arith.index_cast %here : index to i32
    %others = arith.subi %items, %num : i32
    memref.store %num, %under_pivot[%pid] : memref<?xi32>
    memref.store %others, %over_pivot[%pid] : memref<?xi32>
  }
}
