// The sum of each 16 elements, in all of them.
//
// Reference: subgroup.txt, "Partial-subgroup reductions example": reduce_all_add_tiled(v, 4)
//
// Needs subgroups of 16 lanes or more.
//
// $ qd-run sum16.mlir --arg 'src=iota[128]' --arg 'dst=zeros[128]' --print 'dst[:3]'
// dst[:3] = [120, 120, 120]

qd.grid.kernel @main(%src: memref<?xf32> {qd.name = "src"}, %dst: memref<?xf32> {qd.name = "dst"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %src, %c0 : memref<?xf32>
  %blocks = arith.divui %n, %c64 : index
  qd.grid.phase "sum" blocks(%blocks) threads(64) {
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %c64 : index
    %i = arith.addi %first, %thread : index
    %x = memref.load %src[%i] : memref<?xf32>
    %total = qd.simt.reduce_all add %x tile(4) : f32
    memref.store %total, %dst[%i] : memref<?xf32>
  }
}
