// The lowest set bit, counted from 1.
//
// Reference: math.txt, "qd.math.ffs(x)"
//
// $ qd-run ffs.mlir --arg 'x=[0, 1, 2, -2147483648, -1]' --arg 'y=zeros[5]' --print y
// y = [0, 1, 2, 32, 1]

qd.grid.kernel @main(%x: memref<?xi32> {qd.name = "x"}, %y: memref<?xi32> {qd.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "ffs" %i to %n {
    %value = memref.load %x[%i] : memref<?xi32>
    %bits = qd.math.ffs %value : i32
    memref.store %bits, %y[%i] : memref<?xi32>
  }
}
