// Up to 32 contacts, sorted by key and then by index.
//
// Reference: subgroup.txt, "Bitonic key/value sort example"
//
// Needs subgroups of 32 lanes or more.
//
// $ qd-run sort-contacts.mlir --arg 'keys=[3, 1, 2, 1, 0.5]' --arg 'idxs=[10, 11, 12, 9, 14]' \
//     --arg n_con=5 --print keys --print idxs
// keys = [0.5, 1, 1, 2, 3]
// idxs = [14, 9, 11, 12, 10]

qd.grid.kernel @main(%keys: memref<?xf32> {qd.name = "keys"}, %idxs: memref<?xi32> {qd.name = "idxs"},
                     %n_con: i32 {qd.name = "n_con"}) {
  %c1 = arith.constant 1 : index
  qd.grid.phase "sort contacts" blocks(%c1) threads(32) {
    // What is past the contacts has a key that none of them has, and goes to the end.
    %no_key = arith.constant 1.0e30 : f32
    %no_index = arith.constant -1 : i32
    %thread = qd.simt.block.thread_id
    %number = arith.index_cast %thread : index to i32
    %is_contact = arith.cmpi slt, %number, %n_con : i32
    %key, %index = scf.if %is_contact -> (f32, i32) {
      %k = memref.load %keys[%thread] : memref<?xf32>
      %x = memref.load %idxs[%thread] : memref<?xi32>
      scf.yield %k, %x : f32, i32
    } else {
      scf.yield %no_key, %no_index : f32, i32
    }
    %sorted_key, %sorted_index = qd.simt.bitonic_sort_kv %key, %index tile(5) : f32, i32
    scf.if %is_contact {
      memref.store %sorted_key, %keys[%thread] : memref<?xf32>
      memref.store %sorted_index, %idxs[%thread] : memref<?xi32>
    }
  }
}
