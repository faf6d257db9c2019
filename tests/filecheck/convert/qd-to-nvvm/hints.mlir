// What computes nothing, and says what is to come: elements go to the cache that all multiprocessors share, a warp sleeps, and registers
// are left for as many blocks as a body says.

// RUN: qd-opt %s --qd-convert-to-nvvm=arch=sm_90 | FileCheck %s
// RUN: qd-opt %s --qd-convert-to-nvvm=arch=sm_80 | FileCheck %s --check-prefix=OLD

// LLVM has no prefetch for these: a hint falls away.
// OLD-NOT: prefetch

module {

// CHECK-LABEL: llvm.func @hints(
// CHECK-SAME:    nvvm.minctasm = 5 : i32
// CHECK:         nvvm.prefetch level = L2
// CHECK:         %[[TIME:.*]] = arith.constant 1000 : i32
// CHECK:         nvvm.nanosleep %[[TIME]]
func.func private @hints(%a: memref<?xf32>, %i: index) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64, qd.blocks_per_core = 5 : i64} {
  memref.prefetch %a[%i], read, locality<2>, data : memref<?xf32>
  qd.simt.pause 1000
  return
}

// Without shared memory and without a wish the compiler is free.
// CHECK-LABEL: llvm.func @free(
// CHECK-NOT:     nvvm.minctasm
// CHECK:         llvm.return
func.func private @free(%a: memref<?xf32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  return
}
}
