// A code object says of its kernel what a launch has to bring: arguments, LDS, lanes in a wave, threads of a block.

// RUN: qd-translate %s --target=amdgpu:gfx1100,wave=32 --emit=obj -o %t.32 && llvm-readelf --file-headers --notes %t.32 | FileCheck %s --check-prefixes=CHECK,W32
// RUN: qd-translate %s --target=amdgpu:gfx1100,wave=64 --emit=obj -o %t.64 && llvm-readelf --file-headers --notes %t.64 | FileCheck %s --check-prefixes=CHECK,W64
// RUN: llvm-objdump -d %t.64 | FileCheck %s --check-prefix=CODE
// RUN: qd-translate %s --target=amdgpu:gfx90a --emit=obj -o %t.90a && llvm-readelf --file-headers --notes %t.90a | FileCheck %s --check-prefix=GFX90A
// RUN: llvm-objdump -d %t.90a | FileCheck %s --check-prefix=CODE
// RUN: env QD_LLD=/nowhere/ld.lld not qd-translate %s --target=amdgpu:gfx942 --emit=obj -o %t.none 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK:       Type: DYN (Shared object file)
// CHECK:       Machine: EM_AMDGPU
// GFX90A:      Flags: {{.*}}gfx90a
// CHECK:       amdhsa.kernels:
// CHECK:         .group_segment_fixed_size: 512
// CHECK:         .kernarg_segment_size: 16
// CHECK:         .max_flat_workgroup_size: 128
// CHECK:         .name: reversed_phase_0_{{[0-9a-f]+}}
// CHECK:         .private_segment_fixed_size: 0
// CHECK:         .symbol: reversed_phase_0_{{[0-9a-f]+}}.kd
// W32:           .wavefront_size: 32
// W64:           .wavefront_size: 64
// CHECK:       amdhsa.target: amdgcn-amd-amdhsa--gfx1100
// GFX90A:        .wavefront_size: 64
// CODE:        s_barrier
// CODE:        s_endpgm
// NONE:        linking: /nowhere/ld.lld was not found: install lld-22, or set QD_LLD
qd.grid.kernel @reversed(%b: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(128) {
    %s = qd.simt.block.shared : memref<128xi32, #gpu.address_space<workgroup>>
    %c127 = arith.constant 127 : index
    %t = qd.simt.block.thread_id
    %j = arith.subi %c127, %t : index
    %x = memref.load %b[%t] : memref<?xi32>
    memref.store %x, %s[%t] : memref<128xi32, #gpu.address_space<workgroup>>
    qd.simt.block.sync
    %y = memref.load %s[%j] : memref<128xi32, #gpu.address_space<workgroup>>
    memref.store %y, %b[%t] : memref<?xi32>
  }
}
