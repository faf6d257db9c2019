// A prefix sum by steps of doubled strides, in a loop on the device.
//
// The two arrays are swapped after each step, as the reference swaps two names.
//
// Reference: quicksort.txt, "Prefix sum": triton_pref_sum
//
// $ qd-run prefix-sum.mlir --arg 'x=[3, 1, 4, 1, 5, 9, 2, 6]' --arg 'y=zeros[8]' \
//     --arg 'next_y=zeros[8]' --print y
// y = [3, 4, 8, 9, 14, 23, 25, 31]

qd.grid.kernel @main(%x: memref<?xi32> {qd.name = "x"}, %y: memref<?xi32> {qd.name = "y"},
                     %next_y: memref<?xi32> {qd.name = "next_y"},
                     %state: memref<2xi32> {qd.name = "state"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  // The stride, and whether it is within the array.
  qd.grid.fill %state[%c0 to %c2] = %one : memref<2xi32>
  %goes_on = qd.grid.view %state[%c1] : memref<2xi32> to memref<i32>
  qd.grid.for_each "copy" %i to %n {
    %v = memref.load %x[%i] : memref<?xi32>
    memref.store %v, %y[%i] : memref<?xi32>
  }
  qd.grid.do_while %goes_on : memref<i32> swap(%last = %y, %new = %next_y : memref<?xi32>, memref<?xi32>) {
    qd.grid.for_each "scan" %i to %n {
      %stride_word = memref.load %state[%c0] : memref<2xi32>
      %stride = arith.index_cast %stride_word : i32 to index
      %v = memref.load %last[%i] : memref<?xi32>
      %has_partner = arith.cmpi uge, %i, %stride : index
      %sum = scf.if %has_partner -> (i32) {
        %j = arith.subi %i, %stride : index
        %before = memref.load %last[%j] : memref<?xi32>
        %both = arith.addi %v, %before : i32
        scf.yield %both : i32
      } else {
        scf.yield %v : i32
      }
      memref.store %sum, %new[%i] : memref<?xi32>
    }
    qd.grid.for_each "double the stride" %i to %c1 {
      %stride = memref.load %state[%c0] : memref<2xi32>
      %doubled = arith.addi %stride, %stride : i32
      memref.store %doubled, %state[%c0] : memref<2xi32>
      %index = arith.index_cast %doubled : i32 to index
      %is_within = arith.cmpi ult, %index, %n : index
      %flag = arith.extui %is_within : i1 to i32
      memref.store %flag, %goes_on[] : memref<i32>
    }
  }
}
