// Booleans in memory are bytes, which LLVM's vectoriser takes; other types stay as they are.
// RUN: qd-opt %s --qd-bools-as-bytes | FileCheck %s

// CHECK-LABEL: llvm.func @copy(
// CHECK: %[[BYTE:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> i8
// CHECK: %[[P:.*]] = llvm.trunc %[[BYTE]] : i8 to i1
// CHECK: %[[NOT:.*]] = llvm.xor %[[P]], %{{.*}} : i1
// CHECK: %[[WIDE:.*]] = llvm.zext %[[NOT]] : i1 to i8
// CHECK: llvm.store %[[WIDE]], %{{.*}} : i8, !llvm.ptr
// CHECK: %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK-NEXT: llvm.store %[[X]]
llvm.func @copy(%from: !llvm.ptr, %to: !llvm.ptr) {
  %true = llvm.mlir.constant(true) : i1
  %p = llvm.load %from {alignment = 1 : i64} : !llvm.ptr -> i1
  %q = llvm.xor %p, %true : i1
  llvm.store %q, %to : i1, !llvm.ptr
  %x = llvm.load %from : !llvm.ptr -> f32
  llvm.store %x, %to : f32, !llvm.ptr
  llvm.return
}
