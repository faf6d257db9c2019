// The running sum within each 8 elements.
//
// Reference: subgroup.txt, "Inclusive scan with inclusive_add_tiled example": inclusive_add_tiled(v, 3)
//
// Needs subgroups of 8 lanes or more.
//
// $ qd-run cumsum8.mlir --arg 'a=iota[128]' --print 'a[:10]'
// a[:10] = [0, 1, 3, 6, 10, 15, 21, 28, 8, 17]

qd.grid.kernel @main(%a: memref<?xi32> {qd.name = "a"}) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  %blocks = arith.divui %n, %c32 : index
  qd.grid.phase "running sum" blocks(%blocks) threads(32) {
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %c32 : index
    %i = arith.addi %first, %thread : index
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.inclusive_scan add %x tile(3) : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}
