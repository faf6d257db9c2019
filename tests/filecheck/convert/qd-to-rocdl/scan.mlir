// Scans of integers in rows of 16 lanes by DPP, whose totals the rows above take in; floats keep their order, by shuffles.

// RUN: qd-opt %s --qd-expand-collectives=target=amdgpu:gfx1100 --qd-convert-to-rocdl=arch=gfx1100 | FileCheck %s --check-prefixes=CHECK,RDNA
// RUN: qd-opt %s --qd-expand-collectives=target=amdgpu:gfx942 --qd-convert-to-rocdl=arch=gfx942 | FileCheck %s --check-prefixes=CHECK,CDNA

// CHECK-LABEL: llvm.func @sum
// CHECK:         rocdl.update.dpp {{.*}} with 273, 15, 15, false : i32
// CHECK:         rocdl.update.dpp {{.*}} with 274, 15, 15, false : i32
// CHECK:         rocdl.update.dpp {{.*}} with 276, 15, 15, false : i32
// CHECK:         rocdl.update.dpp {{.*}} with 280, 15, 15, false : i32
// RDNA:          rocdl.permlanex16
// RDNA:          rocdl.update.dpp {{.*}} with 228, 10, 15, false : i32
// RDNA:          rocdl.readlane
// RDNA:          rocdl.update.dpp {{.*}} with 228, 12, 15, false : i32
// CDNA:          rocdl.update.dpp {{.*}} with 322, 10, 15, false : i32
// CDNA:          rocdl.update.dpp {{.*}} with 323, 12, 15, false : i32
// CHECK-NOT:     ds_bpermute
// CHECK:         llvm.return
func.func private @sum(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %s = qd.simt.inclusive_scan add %v tile(6) : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}

// A cluster of four: two steps, whose lower lanes have nothing below them.
// CHECK-LABEL: llvm.func @of_four
// CHECK:         rocdl.update.dpp {{.*}} with 273, 15, 15, false : i32
// CHECK:         arith.select
// CHECK:         rocdl.update.dpp {{.*}} with 274, 15, 15, false : i32
// CHECK:         arith.select
// CHECK-NOT:     rocdl.update.dpp
// CHECK:         llvm.return
func.func private @of_four(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %s = qd.simt.inclusive_scan maxsi %v tile(2) : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}

// The lanes below are all up to the lane, without its own.
// CHECK-LABEL: llvm.func @below
// CHECK-COUNT-12: rocdl.update.dpp
// CHECK-NOT:     rocdl.update.dpp
// CHECK:         arith.subi %{{.*}} : i64
// CHECK:         llvm.return
func.func private @below(%in: memref<?xi64>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi64>
  %s = qd.simt.exclusive_scan add %v tile(6) : i64
  memref.store %s, %out[%t] : memref<?xi64>
  return
}

// CHECK-LABEL: llvm.func @floats
// CHECK-NOT:     rocdl.update.dpp
// CHECK:         rocdl.ds_bpermute
// CHECK:         llvm.return
func.func private @floats(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xf32>
  %s = qd.simt.inclusive_scan add %v tile(6) : f32
  memref.store %s, %out[%t] : memref<?xf32>
  return
}
