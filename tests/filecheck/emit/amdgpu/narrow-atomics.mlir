// Atomics on 8 and 16 bits compare and swap words. LLVM has no instruction for those that change nothing (an `or` of 0), and its
// own loops in shared memory begin with a plain load.

// RUN: qd-translate %s --target=amdgpu:gfx1100 --emit=asm | FileCheck %s

// CHECK-LABEL: {{^}}in_a_buffer_phase_0{{.*}}:
// CHECK: global_atomic_cmpswap_b32
// CHECK: global_atomic_cmpswap_b32
// CHECK: s_endpgm
qd.grid.kernel @in_a_buffer(%a: memref<?xi8>, %b: memref<?xi16>) {
  %blocks = arith.constant 3 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %t = qd.simt.block.thread_id
    %byte = arith.constant 0 : i8
    %half = arith.constant 0 : i16
    %i = qd.grid.atomic.rmw or %byte, %a[%t] device acq_rel : memref<?xi8>
    %j = memref.atomic_rmw addi %half, %b[%t] : (i16, memref<?xi16>) -> i16
  }
}

// CHECK-LABEL: {{^}}in_shared_memory_phase_0{{.*}}:
// CHECK-NOT: ds_load
// CHECK: ds_cmpstore_rtn_b32
// CHECK-NOT: ds_load
// CHECK: s_endpgm
qd.grid.kernel @in_shared_memory(%a: memref<?xi8>) {
  %blocks = arith.constant 3 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %t = qd.simt.block.thread_id
    %c4 = arith.constant 4 : index
    %to = arith.remui %t, %c4 : index
    %x = memref.load %a[%t] : memref<?xi8>
    %own = qd.simt.block.shared : memref<4xi8, #gpu.address_space<workgroup>>
    %before = qd.grid.atomic.rmw maxsi %x, %own[%to] block relaxed : memref<4xi8, #gpu.address_space<workgroup>>
    memref.store %before, %a[%t] : memref<?xi8>
  }
}
