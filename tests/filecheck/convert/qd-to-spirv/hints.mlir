// Hints are dropped: SPIR-V has no prefetch and no backoff.

// RUN: qd-opt %s --qd-convert-to-spirv=target=vulkan:1.3 | FileCheck %s

module {

// CHECK-LABEL: func.func @hints(
// CHECK-NOT:     memref.prefetch
// CHECK-NOT:     pause
// CHECK:         return
func.func private @hints(%a: memref<?xf32>, %i: index) attributes {qd.threads = 64 : i64, qd.wave = 16 : i64} {
  memref.prefetch %a[%i], read, locality<2>, data : memref<?xf32>
  qd.simt.pause 1000
  return
}
}
