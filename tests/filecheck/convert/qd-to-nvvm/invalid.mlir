// What the target does not have is one message at its place.
// NO-ROUNDTRIP: the parts are modules of their own, split by marks

// RUN: split-file %s %t

// RUN: not qd-opt %t/polymorphic.mlir --qd-convert-to-nvvm=arch=sm_90 2>&1 | FileCheck %s --check-prefix=POLYMORPHIC
// POLYMORPHIC: polymorphic.mlir:1:1: error: 'func.func' op has no 'qd.wave': run qd-select-subgroup-size first
// RUN: not qd-opt %t/wave.mlir --qd-convert-to-nvvm=arch=sm_90 2>&1 | FileCheck %s --check-prefix=WAVE
// WAVE: wave.mlir:1:1: error: 'func.func' op is for subgroups of 64, which target 'nvptx:sm_90' does not have
// RUN: not qd-opt %t/math.mlir --qd-convert-to-nvvm=arch=sm_70 2>&1 | FileCheck %s --check-prefix=ARCH
// ARCH: error: 'builtin.module' op target 'nvptx' has no architecture 'sm_70': expected one of sm_80, sm_90, sm_100
// RUN: not qd-opt %t/math.mlir --qd-convert-to-nvvm=arch=sm_90 2>&1 | FileCheck %s --check-prefix=MATH
// MATH: math.mlir:3:8: error: 'math.sin' op is a function that target 'nvptx:sm_90' does not have for f64: run qd-expand-math first
// RUN: not qd-opt %t/reduce.mlir --qd-convert-to-nvvm=arch=sm_90 2>&1 | FileCheck %s --check-prefix=REDUCE
// REDUCE: reduce.mlir:3:8: error: 'qd.simt.reduce_all' op is nothing that target 'nvptx:sm_90' has but as redux.sync of i32 by add, minsi, minui, maxsi, maxui, and, or or xor, of a whole subgroup: run qd-expand-collectives first
// RUN: not qd-opt %t/tile.mlir --qd-convert-to-nvvm=arch=sm_90 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: tile.mlir:3:8: error: 'qd.simt.all' op is nothing that target 'nvptx:sm_90' has but as vote.sync.ballot, compared, of a whole subgroup: run qd-expand-collectives first
// RUN: not qd-opt %t/shared.mlir --qd-convert-to-nvvm=arch=sm_90 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: shared.mlir:4:8: error: 'qd.simt.block.shared' op makes the block's shared memory 232452 bytes, but target 'nvptx:sm_90' has 232448
// RUN: not qd-opt %t/shared.mlir --qd-convert-to-nvvm=arch=sm_80 2>&1 | FileCheck %s --check-prefix=SHARED-SM80
// SHARED-SM80: shared.mlir:3:8: error: 'qd.simt.block.shared' op makes the block's shared memory 232448 bytes, but target 'nvptx:sm_80' has 166912
// RUN: not qd-opt %t/name.mlir --qd-convert-to-nvvm=arch=sm_90 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: name.mlir:2:3: error: 'func.func' op is named 'a.b', which target 'nvptx:sm_90' cannot spell: letters, digits, '_' and '$' can be

// RUN: not qd-opt %t/wide.mlir --qd-convert-to-nvvm=arch=sm_90 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: wide.mlir:3:8: error: 'arith.extf' op computes in f128, which target 'nvptx:sm_90' does not have
// RUN: not qd-translate %t/elsewhere.mlir --target=nvptx:sm_90 -o %t/out 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// ELSEWHERE: elsewhere.mlir:7:10: error: 'func.call' op calls 'f', which has no body: no target has functions of others
// RUN: not ls %t/out

// RUN: not qd-opt %t/scan.mlir --qd-convert-to-nvvm=arch=sm_90 2>&1 | FileCheck %s --check-prefix=SCAN
// SCAN: scan.mlir:3:8: error: 'qd.simt.inclusive_scan' op is nothing that target 'nvptx:sm_90' has: run qd-expand-collectives first

//--- scan.mlir
module {
func.func private @f(%x: i32) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %0 = qd.simt.inclusive_scan add %x tile(5) : i32
  return
}
}
//--- wide.mlir
module {
func.func private @f(%x: f64) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %0 = arith.extf %x : f64 to f128
  return
}
}
//--- elsewhere.mlir
func.func private @f(%x: f32) -> f32
qd.grid.kernel @k(%a: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xf32>
    %y = func.call @f(%x) : (f32) -> f32
    memref.store %y, %a[%t] : memref<?xf32>
  }
}
//--- polymorphic.mlir
func.func private @f() attributes {qd.threads = 64 : i64} {
  return
}
//--- wave.mlir
func.func private @f() attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  return
}
//--- math.mlir
module {
func.func private @f(%x: f64, %o: memref<1xf64>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %0 = math.sin %x : f64
  %c0 = arith.constant 0 : index
  memref.store %0, %o[%c0] : memref<1xf64>
  return
}
}
//--- reduce.mlir
module {
func.func private @f(%x: i32) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %0 = qd.simt.reduce_all mul %x : i32
  return
}
}
//--- tile.mlir
module {
func.func private @f(%x: i1) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %0 = qd.simt.all %x tile(3)
  return
}
}
//--- shared.mlir
module {
func.func private @f() attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %0 = qd.simt.block.shared : memref<58112xi32, #gpu.address_space<workgroup>>
  %1 = qd.simt.block.shared : memref<1xi32, #gpu.address_space<workgroup>>
  return
}
}
//--- name.mlir
module {
  func.func private @"a.b"() attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    return
  }
}
