// Reductions, scans and ranks of a block by the expansion that costs least, or that the program asks for.

// RUN: split-file %s %t
// RUN: qd-opt %t/body.mlir --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s --check-prefixes=CHECK,CHEAP
// RUN: qd-opt %t/body.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%S/Inputs/dear-shuffles.json' | FileCheck %s --check-prefixes=CHECK,DEAR
// RUN: qd-opt %t/body.mlir --qd-select-lowering='target=nvptx:sm_90 explain=true' -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: qd-opt %t/body.mlir --qd-select-lowering=target=amdgpu:gfx1100 | FileCheck %s --check-prefix=AMD
// RUN: qd-opt %t/body.mlir --qd-select-lowering=target=vulkan:1.3 | FileCheck %s --check-prefix=VULKAN
// RUN: qd-opt %t/asked.mlir --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s --check-prefix=ASKED
// RUN: qd-opt %t/asked.mlir --qd-expand-collectives=target=nvptx:sm_90 | FileCheck %s --check-prefix=MADE
// RUN: qd-opt %t/reduce.mlir --qd-select-lowering=target=amdgpu:gfx1100 | FileCheck %s --check-prefix=REDUCE
// RUN: qd-opt %t/reduce.mlir --qd-select-lowering=target=amdgpu:gfx1100 | qd-opt --qd-expand-collectives=target=amdgpu:gfx1100 | FileCheck %s --check-prefix=BUTTERFLY
// RUN: not qd-opt %t/wrong.mlir --qd-select-lowering=target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not qd-opt %t/wrong.mlir --qd-expand-collectives=target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not qd-opt %t/rank.mlir --qd-expand-collectives=target=cpu 2>&1 | FileCheck %s --check-prefix=RANK

// CHECK-LABEL: func.func private @integers
// CHEAP:         qd.simt.block.reduce_all add %{{.*}} {qd.form = "subgroups"} : i32
// CHEAP:         qd.simt.block.inclusive_scan add %{{.*}} {qd.form = "subgroups"} : i32
// DEAR:          qd.simt.block.reduce_all add %{{.*}} {qd.form = "shared"} : i32
// DEAR:          qd.simt.block.inclusive_scan add %{{.*}} {qd.form = "shared"} : i32
// A barrier is an instruction that waits.
// VULKAN-LABEL: func.func private @integers
// VULKAN:         qd.simt.block.inclusive_scan add %{{.*}} {qd.form = "subgroups"} : i32
// EXPLAIN:     @integers
// EXPLAIN:       qd.simt.block.reduce_all ({{.*}}) -> subgroups {{.*}}; shared

// A sum of floats is the same tree of 64 threads either way, and of 192 it is not; of a scan it never is.
// CHECK-LABEL: func.func private @tree
// DEAR:          qd.simt.block.reduce_all add %{{.*}} {qd.form = "shared"} : f32
// CHECK:         qd.simt.block.exclusive_scan add %{{.*}} {qd.form = "subgroups"} : f32
// CHECK-LABEL: func.func private @no_tree
// CHECK:         qd.simt.block.reduce_all add %{{.*}} {qd.form = "subgroups"} : f32

// There is shared memory for the usual way alone.
// CHECK-LABEL: func.func private @full
// CHECK:         qd.simt.block.inclusive_scan add %{{.*}} {qd.form = "subgroups"} : i32

// CHECK-LABEL: func.func private @ranks
// CHEAP:         qd.simt.block.radix_rank {{.*}} {qd.form = "match", radix_bits = 8 : i32}
// DEAR:          qd.simt.block.radix_rank {{.*}} {qd.form = "ballots", radix_bits = 8 : i32}
// EXPLAIN:     @ranks
// EXPLAIN:       qd.simt.block.radix_rank ({{.*}}) -> match {{.*}}; ballots {{.*}}; atomics
// AMD-LABEL:   func.func private @ranks
// AMD:           qd.simt.block.radix_rank {{.*}} {qd.form = "atomics", radix_bits = 8 : i32}

// ASKED:         qd.simt.block.reduce add %{{.*}} {qd.form = "shared"} : f32
// ASKED:         qd.simt.block.inclusive_scan add %{{.*}} {qd.form = "shared"} : f32
// ASKED:         qd.simt.block.radix_rank {{.*}} {qd.form = "atomics", radix_bits = 6 : i32}
// ASKED:         qd.simt.block.radix_rank {{.*}} {qd.form = "ballots", radix_bits = 6 : i32}

// 64 threads, 32 pairs, 16, 8, 4, 2, 1; then six steps of a scan. One array more is for the ranks.
// MADE-LABEL:  func.func private @asked
// MADE-NOT:      qd.simt.shuffle
// MADE-COUNT-7:  qd.simt.block.sync
// MADE-NOT:      qd.simt.shuffle
// MADE-COUNT-6:  qd.simt.block.sync
// MADE-NOT:      qd.simt.ballot
// MADE:          qd.grid.atomic.rmw or
// MADE:          qd.simt.sync
// MADE-COUNT-6:  qd.simt.ballot

// REDUCE:        qd.simt.reduce add %{{.*}} {qd.form = "butterfly"} : f32
// BUTTERFLY-NOT: qd.simt.shuffle down
// BUTTERFLY:     qd.simt.shuffle xor

// WRONG: wrong.mlir:4:8: error: 'qd.simt.block.reduce_all' op cannot be done by 'expansion' in subgroups of 32: there is 'subgroups', 'butterflies', 'shared'
// RANK: rank.mlir:5:8: error: 'qd.simt.block.radix_rank' op cannot be done by 'sort' in subgroups of 32: there is 'a loop over threads', 'match', 'ballots', 'atomics'

//--- body.mlir
func.func private @integers(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %a = qd.simt.block.reduce_all add %v : i32
  %b = qd.simt.block.inclusive_scan add %v : i32
  %c = arith.xori %a, %b : i32
  memref.store %c, %out[%t] : memref<?xi32>
  return
}
func.func private @tree(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xf32>
  %a = qd.simt.block.reduce_all add %v : f32
  %b = qd.simt.block.exclusive_scan add %a : f32
  memref.store %b, %out[%t] : memref<?xf32>
  return
}
func.func private @no_tree(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 192 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xf32>
  %a = qd.simt.block.reduce_all add %v : f32
  memref.store %a, %out[%t] : memref<?xf32>
  return
}
func.func private @full(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %all = qd.simt.block.shared : memref<58000xi32, #gpu.address_space<workgroup>>
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  memref.store %v, %all[%t] : memref<58000xi32, #gpu.address_space<workgroup>>
  %a = qd.simt.block.inclusive_scan add %v : i32
  memref.store %a, %out[%t] : memref<?xi32>
  return
}
func.func private @ranks(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %h = qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
  %e = qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %r = qd.simt.block.radix_rank %v, %h, %e {radix_bits = 8 : i32} : memref<256xi32, #gpu.address_space<workgroup>>, memref<256xi32, #gpu.address_space<workgroup>>
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

//--- asked.mlir
func.func private @asked(%v: f32, %d: i32, %out: memref<?xf32>, %ranks: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %h = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
  %e = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
  %t = qd.simt.block.thread_id
  %a = qd.simt.block.reduce add %v {qd.form = "shared"} : f32
  %b = qd.simt.block.inclusive_scan add %a {qd.form = "shared"} : f32
  memref.store %b, %out[%t] : memref<?xf32>
  %r = qd.simt.block.radix_rank %d, %h, %e {radix_bits = 6 : i32, qd.form = "atomics"} : memref<64xi32, #gpu.address_space<workgroup>>, memref<64xi32, #gpu.address_space<workgroup>>
  qd.simt.block.sync
  %s = qd.simt.block.radix_rank %r, %h, %e {radix_bits = 6 : i32, qd.form = "ballots"} : memref<64xi32, #gpu.address_space<workgroup>>, memref<64xi32, #gpu.address_space<workgroup>>
  memref.store %s, %ranks[%t] : memref<?xi32>
  return
}

//--- reduce.mlir
func.func private @reduce(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xf32>
  %s = qd.simt.reduce add %v : f32
  memref.store %s, %out[%t] : memref<?xf32>
  return
}

//--- wrong.mlir
func.func private @body(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %s = qd.simt.block.reduce_all add %v {qd.form = "expansion"} : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}

//--- rank.mlir
func.func private @body(%v: i32, %out: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %h = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
  %e = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
  %t = qd.simt.block.thread_id
  %r = qd.simt.block.radix_rank %v, %h, %e {radix_bits = 6 : i32, qd.form = "sort"} : memref<64xi32, #gpu.address_space<workgroup>>, memref<64xi32, #gpu.address_space<workgroup>>
  memref.store %r, %out[%t] : memref<?xi32>
  return
}
