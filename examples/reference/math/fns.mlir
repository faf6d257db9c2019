// The n-th set bit of a mask, upwards and downwards.
//
// Reference: math.txt, "qd.math.fns(mask, base, offset)"
//
// $ qd-run fns.mlir --arg 'base=[0, 4, 4, 31, 2, 0]' --arg 'offset=[1, 1, -1, -2, 0, 9]' \
//     --arg 'place=zeros[6]' --print place
// place = [1, 5, 3, 5, 4294967295, 4294967295]

qd.grid.kernel @main(%base: memref<?xi32> {qd.name = "base"}, %offset: memref<?xi32> {qd.name = "offset"},
                     %place: memref<?xi32> {qd.name = "place", qd.dtype = "u32"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %base, %c0 : memref<?xi32>
  qd.grid.for_each "n-th set bit" %i to %n {
    // Bits 1, 3, 5 and 7.
    %mask = arith.constant 0xAA : i32
    %b = memref.load %base[%i] : memref<?xi32>
    %o = memref.load %offset[%i] : memref<?xi32>
    %p = qd.math.fns %mask, %b, %o
    memref.store %p, %place[%i] : memref<?xi32>
  }
}
