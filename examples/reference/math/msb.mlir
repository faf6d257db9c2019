// The highest set bit.
//
// Reference: math.txt, "Highest set bit (Morton-code depth)"
//
// $ qd-run msb.mlir --arg 'x=[1, 2, 255, 0x7FFFFFFF, -1, 0]' --arg 'y=zeros[6]' --print y
// y = [0, 1, 7, 30, 31, -1]

func.func private @msb(%x: i32) -> i32 {
  %c31 = arith.constant 31 : i32
  %zeros = qd.math.clz %x : i32
  %bit = arith.subi %c31, %zeros : i32
  return %bit : i32
}

qd.grid.kernel @main(%x: memref<?xi32> {qd.name = "x"}, %y: memref<?xi32> {qd.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "bits" %i to %n {
    %value = memref.load %x[%i] : memref<?xi32>
    %bit = func.call @msb(%value) : (i32) -> i32
    memref.store %bit, %y[%i] : memref<?xi32>
  }
}
