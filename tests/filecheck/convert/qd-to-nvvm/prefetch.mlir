// A prefetch of elements that have no form on the target falls away.
// RUN: qd-opt %s --qd-convert-to-nvvm=arch=sm_90 | FileCheck %s

// CHECK: llvm.func @f(
// CHECK-NOT: prefetch
module {
func.func private @f(%p: memref<?xcomplex<f32>>, %q: memref<?xvector<4xf32>>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  memref.prefetch %p[%t], read, locality<2>, data : memref<?xcomplex<f32>>
  memref.prefetch %q[%t], read, locality<2>, data : memref<?xvector<4xf32>>
  return
}
}
