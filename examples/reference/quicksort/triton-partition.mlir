// Elements under the pivot first, then the others, each block from its own places on.
//
// Reference: quicksort.txt, "Partition": triton_partition
//
// $ qd-run triton-partition.mlir --arg 'x=[6, 5, 4, 2, 1, 0]' --arg pivot_idx=3 \
//     --arg 'count_under=[0, 0, 2]' --arg 'count_over=[2, 2, 0]' --arg 'start_under=[0, 0, 2]' \
//     --arg 'start_over=[2, 4, 4]' --arg total_before=2 --arg 'y=zeros[6]' --print y
// y = [1, 0, 6, 5, 4, 2]

qd.grid.kernel @main(%x: memref<?xi32> {qd.name = "x"}, %y: memref<?xi32> {qd.name = "y"},
                     %pivot_idx: i32 {qd.name = "pivot_idx"},
                     %count_under: memref<?xi32> {qd.name = "count_under"},
                     %count_over: memref<?xi32> {qd.name = "count_over"},
                     %start_under: memref<?xi32> {qd.name = "start_under"},
                     %start_over: memref<?xi32> {qd.name = "start_over"},
                     %total_before: memref<i32> {qd.name = "total_before"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %block_size = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %pivot_at = arith.index_cast %pivot_idx : i32 to index
  %blocks = arith.ceildivui %n, %block_size : index
  qd.grid.for_each "partition" %pid to %blocks {
    %one = arith.constant 1 : i32
    %pivot = memref.load %x[%pivot_at] : memref<?xi32>
    // Sums up to and with this block: without it, its first place.
    %sum_under = memref.load %start_under[%pid] : memref<?xi32>
    %own_under = memref.load %count_under[%pid] : memref<?xi32>
    %start = arith.subi %sum_under, %own_under : i32
    %sum_over = memref.load %start_over[%pid] : memref<?xi32>
    %own_over = memref.load %count_over[%pid] : memref<?xi32>
    %start_after = arith.subi %sum_over, %own_over : i32
    %before = memref.load %total_before[] : memref<i32>
    %start2 = arith.addi %before, %start_after : i32
    %first = arith.muli %pid, %block_size : index
    %next = arith.addi %first, %block_size : index
    %end = arith.minui %next, %n : index
    %ends:2 = scf.for %pos = %first to %end step %c1 iter_args(%l = %start, %g = %start2) -> (i32, i32) {
      %value = memref.load %x[%pos] : memref<?xi32>
      %is_under = arith.cmpi slt, %value, %pivot : i32
      %place = arith.select %is_under, %l, %g : i32
      %at = arith.index_cast %place : i32 to index
      memref.store %value, %y[%at] : memref<?xi32>
      %l1 = arith.addi %l, %one : i32
      %g1 = arith.addi %g, %one : i32
      %next_l = arith.select %is_under, %l1, %l : i32
      %next_g = arith.select %is_under, %g, %g1 : i32
      scf.yield %next_l, %next_g : i32, i32
    }
  }
}
