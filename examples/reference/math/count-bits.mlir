// The set bits of a bitset.
//
// Reference: math.txt, "Bitset population count"
//
// $ qd-run count-bits.mlir --arg 'masks=[0, 1, 3, 0xFFFFFFFF, 0x80000000]' --arg 'total=[0]' \
//     --print total
// total = [36]

qd.grid.kernel @main(%masks: memref<?xi32> {qd.name = "masks", qd.dtype = "u32"},
                     %total: memref<1xi32> {qd.name = "total"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %masks, %c0 : memref<?xi32>
  qd.grid.for_each "count bits" %i to %n {
    %mask = memref.load %masks[%i] : memref<?xi32>
    %bits = qd.math.popcnt %mask : i32
    %old = qd.grid.atomic.rmw add %bits, %total[%c0] device relaxed : memref<1xi32>
  }
}
