// Leading zeros, as the reference counts them.
//
// Reference: math.txt, "qd.math.clz(x)"
//
// $ qd-run clz.mlir --arg 'x=[0, 1, -1, 0x7FFFFFFF]' --arg 'y=zeros[4]' --print y
// y = [32, 31, 0, 1]

qd.grid.kernel @main(%x: memref<?xi32> {qd.name = "x"}, %y: memref<?xi32> {qd.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "clz" %i to %n {
    %value = memref.load %x[%i] : memref<?xi32>
    %bits = qd.math.clz %value : i32
    memref.store %bits, %y[%i] : memref<?xi32>
  }
}
