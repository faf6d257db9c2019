// A feature that the target does not have is one error at the op.
// NO-ROUNDTRIP: the parts are modules of their own, split by marks

// RUN: split-file %s %t

// RUN: not qd-opt %t/polymorphic.mlir --qd-convert-to-spirv 2>&1 | FileCheck %s --check-prefix=POLYMORPHIC
// POLYMORPHIC: polymorphic.mlir:1:1: error: 'func.func' op has no 'qd.wave': run qd-select-subgroup-size first
// RUN: not qd-opt %t/wave.mlir --qd-convert-to-spirv=target=metal 2>&1 | FileCheck %s --check-prefix=WAVE
// WAVE: wave.mlir:1:1: error: 'func.func' op is for subgroups of 8, which target 'metal' does not have
// RUN: not qd-opt %t/wave.mlir --qd-convert-to-spirv=target=cpu 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: 'builtin.module' op cannot be SPIR-V for target 'cpu'
// RUN: not qd-opt %t/math.mlir --qd-convert-to-spirv 2>&1 | FileCheck %s --check-prefix=MATH
// MATH: math.mlir:3:8: error: 'math.sin' op is a function that target 'vulkan:1.3' does not have for f64: run qd-expand-math first
// RUN: not qd-opt %t/reduce.mlir --qd-convert-to-spirv 2>&1 | FileCheck %s --check-prefix=REDUCE
// REDUCE: reduce.mlir:3:8: error: 'qd.simt.reduce_all' op is nothing that target 'vulkan:1.3' has but as Reduce of i32 or i64 by add, mul, minsi, minui, maxsi, maxui, and, or or xor, of a whole subgroup and ClusteredReduce of i32 or i64 by add, mul, minsi, minui, maxsi, maxui, and, or or xor: run qd-expand-collectives first
// RUN: not qd-opt %t/tile.mlir --qd-convert-to-spirv 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: tile.mlir:3:8: error: 'qd.simt.all' op is nothing that target 'vulkan:1.3' has but as OpGroupNonUniformAll, of a whole subgroup: run qd-expand-collectives first
// RUN: not qd-opt %t/sort.mlir --qd-convert-to-spirv 2>&1 | FileCheck %s --check-prefix=SORT
// SORT: sort.mlir:3:12: error: 'qd.simt.bitonic_sort_kv' op is nothing that target 'vulkan:1.3' has: run qd-expand-collectives first
// RUN: not qd-opt %t/wide.mlir --qd-convert-to-spirv 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: wide.mlir:3:8: error: 'arith.extf' op computes in f128, which target 'vulkan:1.3' does not have
// RUN: not qd-opt %t/double.mlir --qd-convert-to-spirv=target=metal 2>&1 | FileCheck %s --check-prefix=DOUBLE
// DOUBLE: double.mlir:3:8: error: 'arith.extf' op computes in f64, which target 'metal' does not have
// RUN: not qd-opt %t/long.mlir --qd-convert-to-spirv=target=metal 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: long.mlir:4:8: error: 'qd.grid.atomic.rmw' op is an atomic of 64 bits, which target 'metal' does not have
// RUN: not qd-opt %t/assert.mlir --qd-convert-to-spirv 2>&1 | FileCheck %s --check-prefix=ASSERT
// ASSERT: assert.mlir:3:3: error: 'cf.assert' op is nothing that target 'vulkan:1.3' has: run qd-expand-asserts first

//--- polymorphic.mlir
func.func private @f() attributes {qd.threads = 64 : i64} {
  return
}
//--- wave.mlir
func.func private @f() attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  return
}
//--- math.mlir
module {
func.func private @f(%x: f64) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = math.sin %x : f64
  return
}
}
//--- reduce.mlir
module {
func.func private @f(%x: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = qd.simt.reduce_all add %x : f32
  return
}
}
//--- tile.mlir
module {
func.func private @f(%p: i1) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = qd.simt.all %p tile(2)
  return
}
}
//--- sort.mlir
module {
func.func private @f(%k: i32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0, %1 = qd.simt.bitonic_sort_kv %k, %k : i32, i32
  return
}
}
//--- wide.mlir
module {
func.func private @f(%x: f64) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = arith.extf %x : f64 to f128
  return
}
}
//--- double.mlir
module {
func.func private @f(%x: f32) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %0 = arith.extf %x : f32 to f64
  return
}
}
//--- long.mlir
module {
func.func private @f(%a: memref<?xi64>, %x: i64) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c0 = arith.constant 0 : index
  %0 = qd.grid.atomic.rmw add %x, %a[%c0] device relaxed : memref<?xi64>
  return
}
}
//--- assert.mlir
module {
func.func private @f(%p: i1) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  cf.assert %p, "holds"
  return
}
}
