// The same by the op that says so.
//
// Reference: subgroup.txt, "Broadcast lane 0 to all lanes example": by subgroup.broadcast
//
// $ qd-run broadcast-op.mlir --arg 'a=iota[128]' --print 'a[:4]'
// a[:4] = [0, 0, 0, 0]

qd.grid.kernel @main(%a: memref<?xf32> {qd.name = "a"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %blocks = arith.divui %n, %c64 : index
  qd.grid.phase "broadcast" blocks(%blocks) threads(64) {
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %c64 : index
    %i = arith.addi %first, %thread : index
    %zero = arith.constant 0 : i32
    %x = memref.load %a[%i] : memref<?xf32>
    %y = qd.simt.broadcast %x, %zero : f32
    memref.store %y, %a[%i] : memref<?xf32>
  }
}
