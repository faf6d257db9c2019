// Neighbours swap their values.
//
// Reference: subgroup.txt, "Swap neighbours (xor pattern via explicit lane) example"
//
// $ qd-run swap-pairs.mlir --arg 'src=iota[128]' --arg 'dst=zeros[128]' --print 'dst[:6]'
// dst[:6] = [1, 0, 3, 2, 5, 4]

qd.grid.kernel @main(%src: memref<?xf32> {qd.name = "src"}, %dst: memref<?xf32> {qd.name = "dst"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %src, %c0 : memref<?xf32>
  %blocks = arith.divui %n, %c64 : index
  qd.grid.phase "swap pairs" blocks(%blocks) threads(64) {
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %c64 : index
    %i = arith.addi %first, %thread : index
    %one = arith.constant 1 : i32
    %lane = qd.simt.lane_id
    %other = arith.xori %lane, %one : i32
    %x = memref.load %src[%i] : memref<?xf32>
    %y = qd.simt.shuffle idx %x, %other : f32
    memref.store %y, %dst[%i] : memref<?xf32>
  }
}
