// The sum of each 8 elements.
//
// Reference: subgroup.txt, "Partial-subgroup reductions example": reduce_add_tiled(v, 3)
//
// Needs subgroups of 8 lanes or more.
//
// $ qd-run sum8.mlir --arg 'src=iota[128]' --arg 'dst=zeros[16]' --print 'dst[:4]'
// dst[:4] = [28, 92, 156, 220]

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
    %c8 = arith.constant 8 : index
    %x = memref.load %src[%i] : memref<?xf32>
    %total = qd.simt.reduce add %x tile(3) : f32
    %group = arith.divui %i, %c8 : index
    %place = arith.remui %i, %c8 : index
    %is_first = arith.cmpi eq, %place, %c0 : index
    scf.if %is_first {
      memref.store %total, %dst[%group] : memref<?xf32>
    }
  }
}
