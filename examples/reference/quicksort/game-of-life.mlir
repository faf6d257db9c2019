// Generations of the Game of Life on a grid without borders: a glider.
//
// The article leaves this to the reader, and hints at the index; after four generations a glider
// has moved by one in both directions.
//
// Reference: quicksort.txt, "Game of Life"
//
// $ qd-run game-of-life.mlir \
//     --arg 'cells=[0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]' \
//     --arg width=5 --arg generations=4 --arg 'next=zeros[25]' --print cells
// cells = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0]

qd.grid.kernel @main(%cells: memref<?xi32> {qd.name = "cells"}, %width: i32 {qd.name = "width"},
                     %next: memref<?xi32> {qd.name = "next"},
                     %generations: memref<i32> {qd.name = "generations"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %cells, %c0 : memref<?xi32>
  %w = arith.index_cast %width : i32 to index
  %h = arith.divui %n, %w : index
  // Each generation is computed of the last, and the buffers are exchanged: the result is in %cells.
  qd.grid.do_while %generations : memref<i32> swap(%last = %cells, %new = %next : memref<?xi32>, memref<?xi32>) {
    qd.grid.for_each "generation" %i to %n {
      // One number is a place in two dimensions.
      %y = arith.divui %i, %w : index
      %x = arith.remui %i, %w : index
      %zero = arith.constant 0 : i32
      %c3 = arith.constant 3 : index
      // Rows and columns y + height - 1, y + height, y + height + 1, modulo the height.
      %above = arith.addi %y, %h : index
      %left = arith.addi %x, %w : index
      %top = arith.subi %above, %c1 : index
      %west = arith.subi %left, %c1 : index
      %around = scf.for %dy = %c0 to %c3 step %c1 iter_args(%rows = %zero) -> (i32) {
        %row_sum = scf.for %dx = %c0 to %c3 step %c1 iter_args(%sum = %rows) -> (i32) {
          %yy = arith.addi %top, %dy : index
          %xx = arith.addi %west, %dx : index
          %row = arith.remui %yy, %h : index
          %column = arith.remui %xx, %w : index
          %start = arith.muli %row, %w : index
          %at = arith.addi %start, %column : index
          %cell = memref.load %last[%at] : memref<?xi32>
          %more = arith.addi %sum, %cell : i32
          scf.yield %more : i32
        }
        scf.yield %row_sum : i32
      }
      // With the cell itself: three live, or four of which it is one.
      %three = arith.constant 3 : i32
      %four = arith.constant 4 : i32
      %own = memref.load %last[%i] : memref<?xi32>
      %is_three = arith.cmpi eq, %around, %three : i32
      %is_four = arith.cmpi eq, %around, %four : i32
      %lives = arith.trunci %own : i32 to i1
      %stays = arith.andi %is_four, %lives : i1
      %is_alive = arith.ori %is_three, %stays : i1
      %v = arith.extui %is_alive : i1 to i32
      memref.store %v, %new[%i] : memref<?xi32>
    }
    qd.grid.for_each "count" %i to %c1 {
      %one = arith.constant 1 : i32
      %left = memref.load %generations[] : memref<i32>
      %less = arith.subi %left, %one : i32
      memref.store %less, %generations[] : memref<i32>
    }
  }
}
