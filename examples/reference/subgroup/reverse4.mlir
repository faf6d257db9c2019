// Each four neighbours are reversed.
//
// Reference: subgroup.txt, "Arbitrary per-lane gather example"
//
// $ qd-run reverse4.mlir --arg 'src=iota[128]' --arg 'dst=zeros[128]' --print 'dst[:8]'
// dst[:8] = [3, 2, 1, 0, 7, 6, 5, 4]

qd.grid.kernel @main(%src: memref<?xf32> {qd.name = "src"}, %dst: memref<?xf32> {qd.name = "dst"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %src, %c0 : memref<?xf32>
  %blocks = arith.divui %n, %c64 : index
  qd.grid.phase "reverse" blocks(%blocks) threads(64) {
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %c64 : index
    %i = arith.addi %first, %thread : index
    %three = arith.constant 3 : i32
    %four = arith.constant 4 : i32
    %lane = qd.simt.lane_id
    %group = arith.divui %lane, %four : i32
    %base = arith.muli %group, %four : i32
    %place = arith.remui %lane, %four : i32
    %last = arith.addi %base, %three : i32
    %from = arith.subi %last, %place : i32
    %x = memref.load %src[%i] : memref<?xf32>
    %y = qd.simt.shuffle idx %x, %from : f32
    memref.store %y, %dst[%i] : memref<?xf32>
  }
}
