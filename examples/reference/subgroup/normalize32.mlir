// Each 32 elements divided by their sum.
//
// Reference: subgroup.txt, "Broadcast the sum to all lanes with reduce_all_add_tiled example"
//
// Needs subgroups of 32 lanes or more.
//
// $ qd-run normalize32.mlir --arg 'a=const(2)[128]' --print 'a[:3]'
// a[:3] = [0.03125, 0.03125, 0.03125]

qd.grid.kernel @main(%a: memref<?xf32> {qd.name = "a"}) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %blocks = arith.divui %n, %c32 : index
  qd.grid.phase "normalize" blocks(%blocks) threads(32) {
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %c32 : index
    %i = arith.addi %first, %thread : index
    %x = memref.load %a[%i] : memref<?xf32>
    %total = qd.simt.reduce_all add %x tile(5) : f32
    %y = arith.divf %x, %total : f32
    memref.store %y, %a[%i] : memref<?xf32>
  }
}
