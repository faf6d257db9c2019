// The running sum within each 32 elements.
//
// Reference: subgroup.txt, "Inclusive scan with inclusive_add_tiled example"
//
// Needs subgroups of 32 lanes or more.
//
// $ qd-run cumsum.mlir --arg 'a=iota[128]' --print 'a[:6]'
// a[:6] = [0, 1, 3, 6, 10, 15]

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
    %sum = qd.simt.inclusive_scan add %x tile(5) : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}
