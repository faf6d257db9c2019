// Every lane reads its own value.
//
// Reference: subgroup.txt, "Identity shuffle (each lane reads its own id) example"
//
// $ qd-run identity.mlir --arg 'src=iota[128]' --arg 'dst=zeros[128]' --print 'dst[:5]'
// dst[:5] = [0, 1, 2, 3, 4]

qd.grid.kernel @main(%src: memref<?xf32> {qd.name = "src"}, %dst: memref<?xf32> {qd.name = "dst"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %src, %c0 : memref<?xf32>
  %blocks = arith.divui %n, %c64 : index
  qd.grid.phase "identity" blocks(%blocks) threads(64) {
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %c64 : index
    %i = arith.addi %first, %thread : index
    %lane = qd.simt.lane_id
    %x = memref.load %src[%i] : memref<?xf32>
    %y = qd.simt.shuffle idx %x, %lane : f32
    memref.store %y, %dst[%i] : memref<?xf32>
  }
}
