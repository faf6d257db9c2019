// A fold by levels of a tree, with an operator of its own: here the larger, and all of it is one function.
//
// Reference: quicksort.txt, "Reduce/fold"
//
// $ qd-run fold.mlir --arg 'x=[3, 1, 4, 1, 5, 9, 2]' --arg 'y=zeros[7]' --arg 'next_y=zeros[7]' \
//     --print 'y[:1]'
// y[:1] = [9]

func.func private @operator(%left: i32, %right: i32) -> i32 {
  %larger = arith.maxsi %left, %right : i32
  return %larger : i32
}

qd.grid.kernel @main(%x: memref<?xi32> {qd.name = "x"}, %y: memref<?xi32> {qd.name = "y"},
                     %next_y: memref<?xi32> {qd.name = "next_y"},
                     %words: memref<3xi32> {qd.name = "words"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  // How many nodes the level has, how many the next one has, and whether there is one.
  %number = arith.index_cast %n : index to i32
  qd.grid.fill %words[%c0 to %c3] = %number : memref<3xi32>
  %nodes = qd.grid.view %words[%c0] : memref<3xi32> to memref<i32>
  %parents = qd.grid.view %words[%c1] : memref<3xi32> to memref<i32>
  %goes_on = qd.grid.view %words[%c2] : memref<3xi32> to memref<i32>
  qd.grid.for_each "leaves" %i to %n {
    %v = memref.load %x[%i] : memref<?xi32>
    memref.store %v, %y[%i] : memref<?xi32>
  }
  qd.grid.do_while %goes_on : memref<i32> {
    qd.grid.for_each "next level" %i to %c1 {
      %one = arith.constant 1 : i32
      %here = memref.load %nodes[] : memref<i32>
      %more = arith.addi %here, %one : i32
      %half = arith.shrui %more, %one : i32
      memref.store %half, %parents[] : memref<i32>
      %is_more = arith.cmpi sgt, %half, %one : i32
      %flag = arith.extui %is_more : i1 to i32
      memref.store %flag, %goes_on[] : memref<i32>
    }
    qd.grid.for_each "combine" %i to %n count(%parents : memref<i32>) {
      %here = memref.load %nodes[] : memref<i32>
      %end = arith.index_cast %here : i32 to index
      %left_at = arith.muli %i, %c2 : index
      %right_at = arith.addi %left_at, %c1 : index
      %left = memref.load %y[%left_at] : memref<?xi32>
      %has_right = arith.cmpi ult, %right_at, %end : index
      %v = scf.if %has_right -> (i32) {
        %right = memref.load %y[%right_at] : memref<?xi32>
        %both = func.call @operator(%left, %right) : (i32, i32) -> i32
        scf.yield %both : i32
      } else {
        scf.yield %left : i32
      }
      memref.store %v, %next_y[%i] : memref<?xi32>
    }
    qd.grid.for_each "take over" %i to %n count(%parents : memref<i32>) {
      %v = memref.load %next_y[%i] : memref<?xi32>
      memref.store %v, %y[%i] : memref<?xi32>
      %is_first = arith.cmpi eq, %i, %c0 : index
      scf.if %is_first {
        %half = memref.load %parents[] : memref<i32>
        memref.store %half, %nodes[] : memref<i32>
      }
    }
  }
}
