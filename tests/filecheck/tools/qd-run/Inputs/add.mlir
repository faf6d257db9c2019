// out = a + b, element by element, for the first n.
qd.grid.kernel @add(%a: memref<?xi32> {qd.name = "a"}, %b: memref<?xi32> {qd.name = "b"},
                    %out: memref<?xi32> {qd.name = "out"}, %n: memref<i32> {qd.name = "n"}) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each "add" %i to %len count(%n : memref<i32>) {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = memref.load %b[%i] : memref<?xi32>
    %sum = arith.addi %x, %y : i32
    memref.store %sum, %out[%i] : memref<?xi32>
  }
}
