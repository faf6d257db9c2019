// The whole of quicksort in one kernel: all segments of a level are partitioned at once.
//
// The reference picks a pivot at random; here it is the element in the middle. A segment ends in
// three parts, so that equal elements end the recursion.
//
// Reference: quicksort.txt, "The quicksort algorithm"
//
// $ qd-run quicksort.mlir --arg 'array=[5, 3, 8, 1, 9, 2, 7, 3, 3, 0, 6, 4]' \
//     --arg 'other=zeros[12]' --arg 'head=zeros[12]' --arg 'next_head=zeros[12]' \
//     --arg 'tail=zeros[12]' --arg 'next_tail=zeros[12]' --arg 'below=zeros[12]' \
//     --arg 'equal=zeros[12]' --print array
// array = [0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 8, 9]

qd.grid.kernel @main(%array: memref<?xi32> {qd.name = "array"}, %other: memref<?xi32> {qd.name = "other"},
                     %head: memref<?xi32> {qd.name = "head"},
                     %next_head: memref<?xi32> {qd.name = "next_head"},
                     %tail: memref<?xi32> {qd.name = "tail"},
                     %next_tail: memref<?xi32> {qd.name = "next_tail"},
                     %below: memref<?xi32> {qd.name = "below"}, %equal: memref<?xi32> {qd.name = "equal"},
                     %sum_below: memref<?xi32> {qd.name = "sum_below"},
                     %sum_equal: memref<?xi32> {qd.name = "sum_equal"},
                     %scratch: memref<?xi32> {qd.name = "scratch"},
                     %words: memref<2xi32> {qd.name = "words"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %true = arith.constant true
  %n = memref.dim %array, %c0 : memref<?xi32>
  %number = arith.index_cast %n : index to i32
  // The number of elements, and whether a segment is not sorted yet.
  qd.grid.fill %words[%c0 to %c2] = %number : memref<2xi32>
  %count = qd.grid.view %words[%c0] : memref<2xi32> to memref<i32>
  %is_unsorted = qd.grid.view %words[%c1] : memref<2xi32> to memref<i32>
  // Each element knows where its segment begins and ends. At first there is one.
  qd.grid.for_each "one segment" %i to %n {
    %zero = arith.constant 0 : i32
    memref.store %zero, %head[%i] : memref<?xi32>
    memref.store %number, %tail[%i] : memref<?xi32>
  }
  qd.grid.do_while %is_unsorted : memref<i32>
      swap(%from_array = %array, %to_array = %other, %heads = %head, %new_heads = %next_head, %tails = %tail,
           %new_tails = %next_tail : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>,
           memref<?xi32>) {
    // The pivot is the element in the middle of the segment.
    qd.grid.for_each "count" %i to %n {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %first = memref.load %heads[%i] : memref<?xi32>
      %end = memref.load %tails[%i] : memref<?xi32>
      %both = arith.addi %first, %end : i32
      %middle = arith.shrui %both, %one : i32
      %at = arith.index_cast %middle : i32 to index
      %pivot = memref.load %from_array[%at] : memref<?xi32>
      %x = memref.load %from_array[%i] : memref<?xi32>
      %is_below = arith.cmpi slt, %x, %pivot : i32
      %is_equal = arith.cmpi eq, %x, %pivot : i32
      %below_flag = arith.extui %is_below : i1 to i32
      %equal_flag = arith.extui %is_equal : i1 to i32
      memref.store %below_flag, %below[%i] : memref<?xi32>
      memref.store %equal_flag, %equal[%i] : memref<?xi32>
      %is_first = arith.cmpi eq, %i, %c0 : index
      scf.if %is_first {
        memref.store %zero, %is_unsorted[] : memref<i32>
      }
    }
    qd.algo.inclusive_scan add ins(%below : memref<?xi32>) outs(%sum_below : memref<?xi32>)
        scratch(%scratch : memref<?xi32>) count(%count : memref<i32>) log256_max_n = 3
    qd.algo.inclusive_scan add ins(%equal : memref<?xi32>) outs(%sum_equal : memref<?xi32>)
        scratch(%scratch : memref<?xi32>) count(%count : memref<i32>) log256_max_n = 3
    // Those below the pivot come first, then its equals, which are a sorted segment, then the others.
    qd.grid.for_each "place" %i to %n {
      %one = arith.constant 1 : i32
      %first = memref.load %heads[%i] : memref<?xi32>
      %end = memref.load %tails[%i] : memref<?xi32>
      %b = memref.load %below[%i] : memref<?xi32>
      %e = memref.load %equal[%i] : memref<?xi32>
      %b_here = memref.load %sum_below[%i] : memref<?xi32>
      %e_here = memref.load %sum_equal[%i] : memref<?xi32>
      // Without this one, and without what is before the segment.
      %first_at = arith.index_cast %first : i32 to index
      %b_first = memref.load %sum_below[%first_at] : memref<?xi32>
      %e_first = memref.load %sum_equal[%first_at] : memref<?xi32>
      %b_of_first = memref.load %below[%first_at] : memref<?xi32>
      %e_of_first = memref.load %equal[%first_at] : memref<?xi32>
      %b_before = arith.subi %b_first, %b_of_first : i32
      %e_before = arith.subi %e_first, %e_of_first : i32
      %last = arith.subi %end, %one : i32
      %last_at = arith.index_cast %last : i32 to index
      %b_last = memref.load %sum_below[%last_at] : memref<?xi32>
      %e_last = memref.load %sum_equal[%last_at] : memref<?xi32>
      %num_below = arith.subi %b_last, %b_before : i32
      %num_equal = arith.subi %e_last, %e_before : i32
      %b_with = arith.subi %b_here, %b_before : i32
      %e_with = arith.subi %e_here, %e_before : i32
      %rank_below = arith.subi %b_with, %b : i32
      %rank_equal = arith.subi %e_with, %e : i32
      %number_here = arith.index_cast %i : index to i32
      %rank = arith.subi %number_here, %first : i32
      %not_below = arith.subi %rank, %rank_below : i32
      %rank_above = arith.subi %not_below, %rank_equal : i32
      %equals_from = arith.addi %first, %num_below : i32
      %above_from = arith.addi %equals_from, %num_equal : i32
      %is_below = arith.trunci %b : i32 to i1
      %is_equal = arith.trunci %e : i32 to i1
      %from_0 = arith.select %is_equal, %equals_from, %above_from : i32
      %from = arith.select %is_below, %first, %from_0 : i32
      %to_0 = arith.select %is_equal, %above_from, %end : i32
      %to = arith.select %is_below, %equals_from, %to_0 : i32
      %rank_0 = arith.select %is_equal, %rank_equal, %rank_above : i32
      %rank_in = arith.select %is_below, %rank_below, %rank_0 : i32
      %place = arith.addi %from, %rank_in : i32
      %at = arith.index_cast %place : i32 to index
      %x = memref.load %from_array[%i] : memref<?xi32>
      memref.store %x, %to_array[%at] : memref<?xi32>
      memref.store %from, %new_heads[%at] : memref<?xi32>
      memref.store %to, %new_tails[%at] : memref<?xi32>
      %length = arith.subi %to, %from : i32
      %is_long = arith.cmpi sgt, %length, %one : i32
      %not_equal = arith.xori %is_equal, %true : i1
      %goes_on = arith.andi %is_long, %not_equal : i1
      scf.if %goes_on {
        %old = qd.grid.atomic.rmw or %one, %is_unsorted[] device relaxed : memref<i32>
      }
    }
  }
}
