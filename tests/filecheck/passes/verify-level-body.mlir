// A body holds ops with reference semantics, and its dimensions are in range; anything else is an error at the op, on every target
// and before anything is rewritten.

// RUN: qd-opt %s --split-input-file --verify-diagnostics --qd-verify-level=level=algo
// RUN: split-file %s %t
// RUN: not qd-opt %t/alloc.mlir --to=target 2>&1 | FileCheck %s --check-prefix=ALLOC
// RUN: not qd-translate %t/alloc.mlir --target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=ALLOC
// RUN: not qd-translate %t/alloc.mlir --target=vulkan:1.3 2>&1 | FileCheck %s --check-prefix=ALLOC
// ALLOC: alloc.mlir:4:10: error: 'memref.alloc' op is not legal in a body
// RUN: not qd-opt %t/negative.mlir --to=grid 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not qd-run %t/negative.mlir --arg arg0=[1] --arg arg1=[1] 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not qd-translate %t/negative.mlir --target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not qd-translate %t/negative.mlir --target=vulkan:1.3 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: negative.mlir:4:8: error: 'memref.dim' op takes dimension -1 of a buffer that has 1, numbered from 0

//--- alloc.mlir
qd.grid.kernel @alloc(%g: index, %x: i32) {
  qd.grid.phase blocks(%g) threads(64) {
    // expected-error @+1 {{'memref.alloc' op is not legal in a body: no target has it; a thread's private memory is 'memref.alloca', the block's 'qd.simt.block.shared'}}
    %m = memref.alloc() : memref<1xi32>
    // Nothing is said of what is done with its result.
    memref.dealloc %m : memref<1xi32>
  }
}
// -----
//--- outlined.mlir
llvm.func @puts(!llvm.ptr) -> i32
func.func private @body(%x: i32, %p: !llvm.ptr) attributes {qd.threads = 64 : i64} {
  // expected-error @+1 {{'llvm.call' op is not legal in a body: no target has it}}
  %0 = llvm.call @puts(%p) : (!llvm.ptr) -> i32
  %c = arith.constant true
  scf.if %c {
    // expected-error @+1 {{'gpu.barrier' op is not legal in a body: no target has it; use 'qd.simt.block.sync'}}
    gpu.barrier
  }
  return
}
// -----
//--- indirect.mlir
func.func private @f(i32) -> i32
qd.grid.kernel @indirect(%n: index, %x: i32) {
  qd.grid.for_each %i to %n {
    // expected-error @+1 {{'func.constant' op is not legal in a body: no target has it}}
    %f = func.constant @f : (i32) -> i32
    %0 = func.call_indirect %f(%x) : (i32) -> i32
  }
}
// -----
//--- negative.mlir
qd.grid.kernel @dimension(%a: memref<?xi32>, %o: memref<?xi32>) {
  %c = arith.constant -1 : index
  // expected-error @+1 {{'memref.dim' op takes dimension -1 of a buffer that has 1, numbered from 0}}
  %n = memref.dim %a, %c : memref<?xi32>
  qd.grid.for_each %i to %n {
    %x = arith.index_cast %i : index to i32
    memref.store %x, %o[%i] : memref<?xi32>
  }
}
// -----
//--- above.mlir
qd.grid.kernel @dimension(%a: memref<?x4xi32>, %n: index) {
  qd.grid.for_each %i to %n {
    %c = index.constant 2
    // expected-error @+1 {{'memref.dim' op takes dimension 2 of a buffer that has 2, numbered from 0}}
    %m = memref.dim %a, %c : memref<?x4xi32>
  }
}
// -----
//--- valid.mlir
qd.grid.kernel @valid(%a: memref<?xi32>, %g: index) {
  %c0 = arith.constant 0 : index
  qd.grid.phase blocks(%g) threads(64) {
    %own = memref.alloca() : memref<4xi32>
    %n = memref.dim %a, %c0 : memref<?xi32>
    %x = math.absi %g : index
    memref.prefetch %a[%c0], read, locality<3>, data : memref<?xi32>
  }
}
