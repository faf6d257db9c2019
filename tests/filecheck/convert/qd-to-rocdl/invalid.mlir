// What the target does not have is one message at its place.
// NO-ROUNDTRIP: the parts are modules of their own, split by marks

// RUN: split-file %s %t

// RUN: not qd-opt %t/wave.mlir --qd-convert-to-rocdl=arch=gfx942 2>&1 | FileCheck %s --check-prefix=WAVE
// WAVE: wave.mlir:1:1: error: 'func.func' op is for subgroups of 32, which target 'amdgpu:gfx942' does not have
// RUN: not qd-opt %t/wave.mlir --qd-convert-to-rocdl=arch=gfx906 2>&1 | FileCheck %s --check-prefix=ARCH
// ARCH: error: 'builtin.module' op target 'amdgpu' has no architecture 'gfx906': expected one of gfx90a, gfx942, gfx1100, gfx1201
// RUN: not qd-opt %t/polymorphic.mlir --qd-convert-to-rocdl=arch=gfx1100 2>&1 | FileCheck %s --check-prefix=POLYMORPHIC
// POLYMORPHIC: polymorphic.mlir:1:1: error: 'func.func' op has no 'qd.wave': run qd-select-subgroup-size first
// RUN: not qd-opt %t/scan.mlir --qd-convert-to-rocdl=arch=gfx1100 2>&1 | FileCheck %s --check-prefix=SCAN
// SCAN: scan.mlir:2:8: error: 'qd.simt.inclusive_scan' op {{.*}}run qd-expand-collectives first
// RUN: not qd-opt %t/math.mlir --qd-convert-to-rocdl=arch=gfx1100 2>&1 | FileCheck %s --check-prefix=MATH
// MATH: math.mlir:2:8: error: 'math.sin' op is a function that target 'amdgpu:gfx1100' does not have for f64: run qd-expand-math first
// RUN: not qd-opt %t/shared.mlir --qd-convert-to-rocdl=arch=gfx90a 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: shared.mlir:2:8: error: 'qd.simt.block.shared' op makes the block's shared memory 65540 bytes, but target 'amdgpu:gfx90a' has 65536
// RUN: not qd-translate %t/kernel.mlir --target=amdgpu:gfx942,wave=32 --emit=asm 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: target 'amdgpu:gfx942' has no wave of '32': expected one of 64
// RUN: not qd-translate %t/kernel.mlir --target=amdgpu:gfx942 --emit=spirv 2>&1 | FileCheck %s --check-prefix=SPIRV
// SPIRV: target 'amdgpu:gfx942' has no SPIR-V: its bodies are code objects (--emit=obj) and their assembly (--emit=asm)

//--- wave.mlir
func.func private @f() attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  return
}
//--- polymorphic.mlir
func.func private @f() attributes {qd.threads = 64 : i64} {
  return
}
//--- scan.mlir
func.func private @f(%x: f32) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %0 = qd.simt.inclusive_scan add %x tile(5) : f32
  return
}
//--- math.mlir
func.func private @f(%x: f64, %o: memref<1xf64>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %0 = math.sin %x : f64
  %c0 = arith.constant 0 : index
  memref.store %0, %o[%c0] : memref<1xf64>
  return
}
//--- shared.mlir
func.func private @f() attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %0 = qd.simt.block.shared : memref<16385xi32, #gpu.address_space<workgroup>>
  return
}
//--- kernel.mlir
qd.grid.kernel @k(%a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xi32>
    memref.store %x, %a[%t] : memref<?xi32>
  }
}
