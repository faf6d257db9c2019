// What the cpu conversion makes of a body's signature.
// RUN: qd-opt %s --qd-convert-to-cpu | FileCheck %s

// A pointer, and a length where there is one, for each buffer. Only what is said not to overlap is promised to LLVM.
// CHECK-LABEL: func.func private @body.blocks(
// CHECK-SAME: index, %{{.*}}: index, %{{.*}}: index,
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.noalias, llvm.nonnull, llvm.noundef}, %{{.*}}: i64,
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.nonnull, llvm.noundef}, %{{.*}}: f32,
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.noalias, llvm.nonnull, llvm.noundef})
// CHECK-LABEL: func.func @body(%{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr)
module attributes {qd.wave = 32 : i32} {
  func.func private @body(%a: memref<?xf32> {llvm.noalias}, %b: memref<f32>, %x: f32, %c: memref<f32> {llvm.noalias}) attributes {qd.threads = 64 : i64} {
    %t = qd.simt.block.thread_id
    memref.store %x, %a[%t] : memref<?xf32>
    return
  }
}
