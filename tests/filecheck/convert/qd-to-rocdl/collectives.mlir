// Moves between lanes: DPP where a known lane of the same row is read, ds_bpermute elsewhere, and for 64 lanes of gfx1100 both halves.

// RUN: qd-opt %s --qd-convert-to-rocdl=arch=gfx1100 --split-input-file | FileCheck %s --check-prefixes=CHECK,RDNA,RDNA3
// RUN: qd-opt %s --qd-convert-to-rocdl=arch=gfx1201 --split-input-file | FileCheck %s --check-prefixes=CHECK,RDNA,RDNA4
// RUN: qd-opt %s --qd-convert-to-rocdl=arch=gfx942 --split-input-file | FileCheck %s --check-prefixes=CHECK,CDNA

module {

// Only where ds_bpermute reaches a half of the wave are there two, and LLVM is told nothing of the number.
// CHECK-LABEL: llvm.func @any_lane(
// RDNA3:         %[[BYTES:.*]] = llvm.inline_asm "", "=v,0" %{{.*}} : (i32) -> i32
// RDNA3:         %[[OWN:.*]] = rocdl.ds_bpermute %[[BYTES]], %[[V:.*]] : (i32, i32) -> i32
// RDNA3:         %[[SWAPPED:.*]] = llvm.call_intrinsic "llvm.amdgcn.permlane64"(%[[V]]) : (i32) -> i32
// RDNA3:         %[[KEPT:.*]] = llvm.inline_asm "", "=v,0" %[[SWAPPED]]
// RDNA3:         %[[OTHER:.*]] = rocdl.ds_bpermute %[[BYTES]], %[[KEPT]] : (i32, i32) -> i32
// RDNA3:         arith.select %{{.*}}, %[[OWN]], %[[OTHER]] : i32
// RDNA4-NOT:     permlane64
// CDNA-NOT:      permlane64
// RDNA4:         rocdl.ds_bpermute
// CDNA:          rocdl.ds_bpermute
// CHECK:         llvm.return
func.func private @any_lane(%v: i32, %lane: i32, %o: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %c0 = arith.constant 0 : index
  %0 = qd.simt.shuffle idx %v, %lane : i32
  memref.store %0, %o[%c0] : memref<?xi32>
  return
}

// 64 bits go as two halves, and a uniform lane is read into a scalar register.
// CHECK-LABEL: llvm.func @uniform(
// CHECK-COUNT-2: rocdl.readlane %{{.*}}, %{{.*}} : (i32, i32) -> i32
// CHECK-COUNT-2: rocdl.readfirstlane %{{.*}} : i32
func.func private @uniform(%v: f64, %lane: i32, %o: memref<?xf64>) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %c0 = arith.constant 0 : index
  %0 = qd.simt.broadcast %v, %lane : f64
  %1 = qd.simt.broadcast_first %0 : f64
  memref.store %1, %o[%c0] : memref<?xf64>
  return
}

// A mask of up to 15 stays in a row of 16 lanes; 16 exchanges rows, 32 halves.
// CHECK-LABEL: llvm.func @masks(
// CHECK:         rocdl.update.dpp {{.*}} with 177, 15, 15, true : i32
// RDNA:          rocdl.update.dpp {{.*}} with 356, 15, 15, true : i32
// CDNA:          rocdl.update.dpp {{.*}} with 260, 15, 5, false : i32
// CDNA:          rocdl.update.dpp {{.*}} with 276, 15, 10, false : i32
// RDNA:          rocdl.update.dpp {{.*}} with 360, 15, 15, true : i32
// CDNA:          rocdl.update.dpp {{.*}} with 296, 15, 15, true : i32
// RDNA:          rocdl.permlanex16
// CDNA:          rocdl.ds_swizzle
// RDNA:          llvm.call_intrinsic "llvm.amdgcn.permlane64"
// CDNA:          rocdl.ds_bpermute
func.func private @masks(%v: i32, %o: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %0 = qd.simt.shuffle xor %v, %c1 : i32
  %1 = qd.simt.shuffle xor %0, %c4 : i32
  %2 = qd.simt.shuffle xor %1, %c8 : i32
  %3 = qd.simt.shuffle xor %2, %c16 : i32
  %4 = qd.simt.shuffle xor %3, %c32 : i32
  memref.store %4, %o[%c0] : memref<?xi32>
  return
}

// Of 64 bits at any wave: what no lane has is clear.
// CHECK-LABEL: llvm.func @ballot(
// CHECK:         rocdl.ballot %{{.*}} : i64
func.func private @ballot(%p: i1, %o: memref<?xi64>) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %c0 = arith.constant 0 : index
  %0 = qd.simt.ballot %p
  memref.store %0, %o[%c0] : memref<?xi64>
  return
}
}
