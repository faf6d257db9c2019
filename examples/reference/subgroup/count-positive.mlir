// A bit for each of 32 elements that is positive. They are lanes of one subgroup, of half of one, or of
// several.
//
// Reference: subgroup.txt, "Ballot: count how many lanes satisfy a condition example"
//
// $ qd-run count-positive.mlir \
//     --arg 'a=[1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2, 1, -1, 0, 2]' \
//     --arg 'counts=zeros[2]' --print counts
// counts = [2576980377, 2576980377]

qd.grid.kernel @main(%a: memref<?xf32> {qd.name = "a"}, %counts: memref<?xi32> {qd.name = "counts", qd.dtype = "u32"}) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %blocks = arith.divui %n, %c32 : index
  %none = arith.constant 0 : i32
  %groups = memref.dim %counts, %c0 : memref<?xi32>
  qd.grid.fill %counts[%c0 to %groups] = %none : memref<?xi32>
  qd.grid.phase "ballots" blocks(%blocks) threads(32) {
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %c32 : index
    %i = arith.addi %first, %thread : index
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
    // The first lane of a subgroup, or of half of one, has the group's bits from its own place on.
    %group = arith.divui %i, %c32 : index
    %place = arith.remui %i, %c32 : index
    %by = arith.index_cast %place : index to i32
    %placed = arith.shli %bits, %by : i32
    %is_first = arith.cmpi eq, %lane, %half : i32
    scf.if %is_first {
      %old = qd.grid.atomic.rmw or %placed, %counts[%group] device relaxed : memref<?xi32>
    }
  }
}
