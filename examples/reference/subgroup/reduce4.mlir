// The sum of four lanes, as a tree: lane 0 of a subgroup has it.
//
// The lanes near the top read past the end of the subgroup, which yields their own value: what they
// store means nothing, but is defined.
//
// Reference: subgroup.txt, "Tree reduction with shuffle_down example"
//
// $ qd-run reduce4.mlir --arg 'src=iota[128]' --arg 'dst=zeros[128]' --print 'dst[:1]'
// dst[:1] = [6]

qd.grid.kernel @main(%src: memref<?xf32> {qd.name = "src"}, %dst: memref<?xf32> {qd.name = "dst"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %src, %c0 : memref<?xf32>
  %blocks = arith.divui %n, %c64 : index
  qd.grid.phase "sum of four" blocks(%blocks) threads(64) {
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %c64 : index
    %i = arith.addi %first, %thread : index
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %x = memref.load %src[%i] : memref<?xf32>
    %x2 = qd.simt.shuffle down %x, %two : f32
    %y = arith.addf %x, %x2 : f32
    %y1 = qd.simt.shuffle down %y, %one : f32
    %z = arith.addf %y, %y1 : f32
    memref.store %z, %dst[%i] : memref<?xf32>
  }
}
