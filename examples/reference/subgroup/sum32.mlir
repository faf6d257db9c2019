// The sum of each 32 elements.
//
// Reference: subgroup.txt, "Sum 32 lanes with reduce_add_tiled example"
//
// Needs subgroups of 32 lanes or more.
//
// $ qd-run sum32.mlir --arg 'src=iota[128]' --arg 'dst=zeros[4]' --print dst
// dst = [496, 1520, 2544, 3568]

qd.grid.kernel @main(%src: memref<?xf32> {qd.name = "src"}, %dst: memref<?xf32> {qd.name = "dst"}) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %src, %c0 : memref<?xf32>
  %blocks = arith.divui %n, %c32 : index
  qd.grid.phase "sum" blocks(%blocks) threads(32) {
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %c32 : index
    %i = arith.addi %first, %thread : index
    %x = memref.load %src[%i] : memref<?xf32>
    %total = qd.simt.reduce add %x tile(5) : f32
    %group = arith.divui %i, %c32 : index
    %place = arith.remui %i, %c32 : index
    %is_first = arith.cmpi eq, %place, %c0 : index
    scf.if %is_first {
      memref.store %total, %dst[%group] : memref<?xf32>
    }
  }
}
