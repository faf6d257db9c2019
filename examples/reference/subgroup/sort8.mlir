// Each 8 elements sorted by themselves, with their places.
//
// Reference: subgroup.txt, "Bitonic key/value sort example": bitonic_sort_kv_tiled(k, v, 3)
//
// Needs subgroups of 8 lanes or more.
//
// $ qd-run sort8.mlir \
//     --arg 'keys=[5, 3, 8, 1, 7, 2, 6, 4, 5, 3, 8, 1, 7, 2, 6, 4, 5, 3, 8, 1, 7, 2, 6, 4, 5, 3, 8, 1, 7, 2, 6, 4, 5, 3, 8, 1, 7, 2, 6, 4, 5, 3, 8, 1, 7, 2, 6, 4, 5, 3, 8, 1, 7, 2, 6, 4, 5, 3, 8, 1, 7, 2, 6, 4]' \
//     --arg 'places=iota[64]' --print 'keys[:9]' --print 'places[:9]'
// keys[:9] = [1, 2, 3, 4, 5, 6, 7, 8, 1]
// places[:9] = [3, 5, 1, 7, 0, 6, 4, 2, 11]

qd.grid.kernel @main(%keys: memref<?xf32> {qd.name = "keys"}, %places: memref<?xi32> {qd.name = "places"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %keys, %c0 : memref<?xf32>
  %blocks = arith.divui %n, %c64 : index
  qd.grid.phase "sort" blocks(%blocks) threads(64) {
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %c64 : index
    %i = arith.addi %first, %thread : index
    %k = memref.load %keys[%i] : memref<?xf32>
    %v = memref.load %places[%i] : memref<?xi32>
    %sorted, %place = qd.simt.bitonic_sort_kv %k, %v tile(3) : f32, i32
    memref.store %sorted, %keys[%i] : memref<?xf32>
    memref.store %place, %places[%i] : memref<?xi32>
  }
}
