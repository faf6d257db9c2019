qd.grid.kernel @fill(%x: memref<?xf32> {qd.name = "x"}, %value: f32 {qd.name = "value"}) {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  qd.grid.for_each %i to %n {
    memref.store %value, %x[%i] : memref<?xf32>
  }
}

qd.grid.kernel @add(%x: memref<?xf32> {qd.name = "x"}, %y: memref<?xf32> {qd.name = "y"}) {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  qd.grid.for_each %i to %n {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %y[%i] : memref<?xf32>
    %sum = arith.addf %a, %b : f32
    memref.store %sum, %y[%i] : memref<?xf32>
  }
}
