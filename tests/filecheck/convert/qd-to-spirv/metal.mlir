// What Metal has, and Vulkan does not promise: an fma that rounds once.
// RUN: qd-opt %s --qd-convert-to-spirv=target=metal | FileCheck %s

module {

// CHECK-LABEL: func.func @fma(
// CHECK:         spirv.GL.Fma %{{.*}} : f32
// CHECK:         spirv.GL.Fma %{{.*}} : f16
func.func private @fma(%x: f32, %y: f16, %o: memref<?xf32>, %p: memref<?xf16>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c0 = arith.constant 0 : index
  %0 = math.fma %x, %x, %x : f32
  memref.store %0, %o[%c0] : memref<?xf32>
  %1 = math.fma %y, %y, %y : f16
  memref.store %1, %p[%c0] : memref<?xf16>
  return
}

}
