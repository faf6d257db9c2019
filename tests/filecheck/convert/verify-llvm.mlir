// An op that upstream's conversions have left behind is an error at the op, which names it and the target.
// RUN: qd-opt %s --split-input-file --verify-diagnostics --qd-verify-llvm -o /dev/null
// RUN: not qd-opt %s --split-input-file "--qd-verify-llvm=target=nvptx:sm_90 dialect=nvvm" -o /dev/null 2>&1 | FileCheck %s
// CHECK-NOT: nvvm
// CHECK: 'vector.print' op has no lowering to target 'nvptx:sm_90'
// CHECK: [[@LINE+41]]:3: error: 'llvm.call' op calls 'outside', and the target has no library that it could be in

// NVVM is LLVM on one target alone.
llvm.func @lane() -> i32 {
  // expected-error@+1 {{'nvvm.read.ptx.sreg.laneid' op has no lowering to target 'cpu'}}
  %0 = nvvm.read.ptx.sreg.laneid : i32
  llvm.return %0 : i32
}

// -----

llvm.func @print(%v: i32) {
  // expected-error@+1 {{'vector.print' op has no lowering to target 'cpu'}}
  vector.print %v : i32
  llvm.return
}

// -----

// The cast is there because of another op, which is named in its place.
llvm.func @cast(%p: !llvm.ptr, %f: f32, %n: i64) {
  %i = builtin.unrealized_conversion_cast %n : i64 to index
  %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<4xf32, "weird">
  // expected-error@+1 {{'memref.store' op has no lowering to target 'cpu'}}
  memref.store %f, %m[%i] : memref<4xf32, "weird">
  llvm.return
}

// -----

llvm.func @type(%p: !llvm.ptr) {
  // expected-error@+1 {{a value of type 'memref<4xf32, "weird">' has no form on target 'cpu'}}
  %m = builtin.unrealized_conversion_cast %p : !llvm.ptr to memref<4xf32, "weird">
  llvm.return
}

// -----

// The cpu has a library, and GPUs have none.
llvm.func @outside(i32)
llvm.func @call(%v: i32) {
  llvm.call @outside(%v) : (i32) -> ()
  llvm.return
}
