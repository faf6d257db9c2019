// The lowest set bit, or -1.
//
// Reference: math.txt, "Iterating set bits in a mask"
//
// $ qd-run lowest-set-bit-index.mlir --arg 'x=[0, 1, 2, 12, -2147483648]' --arg 'y=zeros[5]' \
//     --print y
// y = [-1, 0, 1, 2, 31]

func.func private @lowest_set_bit_index(%x: i32) -> i32 {
  %one = arith.constant 1 : i32
  %place = qd.math.ffs %x : i32
  %index = arith.subi %place, %one : i32
  return %index : i32
}

qd.grid.kernel @main(%x: memref<?xi32> {qd.name = "x"}, %y: memref<?xi32> {qd.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "bits" %i to %n {
    %value = memref.load %x[%i] : memref<?xi32>
    %bit = func.call @lowest_set_bit_index(%value) : (i32) -> i32
    memref.store %bit, %y[%i] : memref<?xi32>
  }
}
