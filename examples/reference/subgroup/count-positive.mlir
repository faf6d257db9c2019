// A bit for each of 32 elements that is positive.
//
// Reference: subgroup.txt, "Ballot: count how many lanes satisfy a condition example"
//
// Needs subgroups of 32 lanes or more.
//
// $ qd-run count-positive.mlir \
//     --arg 'a=[1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2]' \
//     --arg 'counts=zeros[2]' --print counts
// counts = [2576980377, 2576980377]

qd.grid.kernel @main(%a: memref<?xf32> {qd.name = "a"}, %counts: memref<?xi32> {qd.name = "counts", qd.dtype = "u32"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %blocks = arith.divui %n, %c64 : index
  qd.grid.phase "ballots" blocks(%blocks) threads(64) {
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %c64 : index
    %i = arith.addi %first, %thread : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.load %a[%i] : memref<?xf32>
    %is_positive = arith.cmpf ogt, %x, %zero : f32
    // Of all lanes, those of the group that this lane is in.
    %mask = qd.simt.ballot %is_positive
    %lane = qd.simt.lane_id
    %half_bit = arith.constant 32 : i32
    %half = arith.andi %lane, %half_bit : i32
    %shift = arith.extui %half : i32 to i64
    %group_mask = arith.shrui %mask, %shift : i64
    %bits = arith.trunci %group_mask : i64 to i32
    %group = arith.divui %i, %c32 : index
    %place = arith.remui %i, %c32 : index
    %is_first = arith.cmpi eq, %place, %c0 : index
    scf.if %is_first {
      memref.store %bits, %counts[%group] : memref<?xi32>
    }
  }
}
