// A maximum of floats is two instructions: of the operand with itself, which makes a signalling NaN a quiet one, and
// that of both. What costs say of `minmax` is that.

// RUN: qd-translate %s --target=amdgpu:gfx1100,wave=64 --emit=asm -o - | FileCheck %s
// RUN: qd-translate %s --target=amdgpu:gfx942 --emit=asm -o - | FileCheck %s

// CHECK:     v_mov_b32_dpp [[M:v[0-9]+]], {{v[0-9]+}} quad_perm:[1,0,3,2]
// CHECK:     v_max_f32_e32 [[Q:v[0-9]+]], [[M]], [[M]]
// CHECK:     v_max_f32_e32 {{v[0-9]+}}, {{.*}}[[Q]]
// CHECK:     s_endpgm
qd.grid.kernel @k(%from: memref<?xf32>, %out: memref<?xf32>) {
  %one = arith.constant 1 : index
  qd.grid.phase blocks(%one) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %from[%t] : memref<?xf32>
    %s = qd.simt.reduce_all maxnumf %v : f32
    memref.store %s, %out[%t] : memref<?xf32>
  }
}
