// What no target lowers, or one does not, is refused by every tool in the same words: one error at its place, exit code 1, no file.
// NO-ROUNDTRIP: two parts are not valid IR, which is their subject
// RUN: rm -rf %t && split-file %s %t
// RUN: %python %S/Inputs/refused.py qd-opt qd-run qd-translate %t | FileCheck %s

// CHECK:      async
// CHECK-NEXT:   'async.execute' op is not legal in a body: no target has it
// CHECK-NEXT: complex
// CHECK-NEXT:   'qd.grid.kernel' op argument 0 is of type 'memref<?xcomplex<f32>>', which no kernel takes
// CHECK-NEXT: gpu
// CHECK-NEXT:   'gpu.barrier' op is not legal in a body: no target has it
// CHECK-NEXT: half
// CHECK-NEXT:   'qd.grid.kernel' op argument 0 is of type 'memref<?xf80>', which no kernel takes
// CHECK-NEXT: linalg
// CHECK-NEXT:   'linalg.fill' op is not legal in a body: no target has it
// CHECK-NEXT: llvm
// CHECK-NEXT:   'llvm.intr.ctpop' op is not legal in a body: no target has it
// CHECK-NEXT: nowhere
// CHECK-NEXT:   'memref.alloca' op has a value of type 'memref<4xi32, "weird">', whose memory space no target has
// CHECK-NEXT: nvvm
// CHECK-NEXT:   'nvvm.read.ptx.sreg.laneid' op is not legal in a body: no target has it
// CHECK-NEXT: space
// CHECK-NEXT:   'qd.grid.kernel' op argument 0 is of type 'memref<?xf32, "weird">', but a buffer lies in the default memory space
// CHECK-NEXT: strided
// CHECK-NEXT:   'qd.grid.kernel' op argument 0 {{.*}} but a buffer must be contiguous
// CHECK-NEXT: top-level
// CHECK-NEXT:   'gpu.barrier' op is not legal at the top level of a kernel
// CHECK-NEXT: vector
// CHECK-NEXT:   'vector.print' op is not legal in a body: no target has it

//--- async.mlir
qd.grid.kernel @k(%a: memref<?xi32>) {
  %n = arith.constant 1 : index
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %token = async.execute {
      async.yield
    }
    async.await %token : !async.token
    memref.store %v, %a[%t] : memref<?xi32>
  }
}
//--- complex.mlir
qd.grid.kernel @k(%a: memref<?xcomplex<f32>>) {
  %n = arith.constant 1 : index
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xcomplex<f32>>
    memref.store %v, %a[%t] : memref<?xcomplex<f32>>
  }
}
//--- gpu.mlir
qd.grid.kernel @k(%a: memref<?xi32>) {
  %n = arith.constant 1 : index
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    gpu.barrier
    memref.store %v, %a[%t] : memref<?xi32>
  }
}
//--- half.mlir
qd.grid.kernel @k(%a: memref<?xf80>) {
  %n = arith.constant 1 : index
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xf80>
    memref.store %v, %a[%t] : memref<?xf80>
  }
}
//--- linalg.mlir
qd.grid.kernel @k(%a: memref<?xi32>) {
  %n = arith.constant 1 : index
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    linalg.fill ins(%v : i32) outs(%a : memref<?xi32>)
    memref.store %v, %a[%t] : memref<?xi32>
  }
}
//--- llvm.mlir
qd.grid.kernel @k(%a: memref<?xi32>) {
  %n = arith.constant 1 : index
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %w = llvm.intr.ctpop(%v) : (i32) -> i32
    memref.store %w, %a[%t] : memref<?xi32>
    memref.store %v, %a[%t] : memref<?xi32>
  }
}
//--- nvvm.mlir
qd.grid.kernel @k(%a: memref<?xi32>) {
  %n = arith.constant 1 : index
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %w = nvvm.read.ptx.sreg.laneid : i32
    memref.store %w, %a[%t] : memref<?xi32>
    memref.store %v, %a[%t] : memref<?xi32>
  }
}
//--- nowhere.mlir
qd.grid.kernel @k(%a: memref<?xi32>) {
  %n = arith.constant 1 : index
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %m = memref.alloca() : memref<4xi32, "weird">
    %v = memref.load %m[%t] : memref<4xi32, "weird">
    memref.store %v, %a[%t] : memref<?xi32>
  }
}
//--- space.mlir
qd.grid.kernel @k(%a: memref<?xf32, "weird">) {
  %n = arith.constant 1 : index
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xf32, "weird">
    memref.store %v, %a[%t] : memref<?xf32, "weird">
  }
}
//--- strided.mlir
qd.grid.kernel @k(%a: memref<?xf32, strided<[2], offset: 1>>) {
  %n = arith.constant 1 : index
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xf32, strided<[2], offset: 1>>
    memref.store %v, %a[%t] : memref<?xf32, strided<[2], offset: 1>>
  }
}
//--- top-level.mlir
qd.grid.kernel @k(%a: memref<?xi32>) {
  %n = arith.constant 1 : index
  gpu.barrier
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    memref.store %v, %a[%t] : memref<?xi32>
  }
}
//--- vector.mlir
qd.grid.kernel @k(%a: memref<?xi32>) {
  %n = arith.constant 1 : index
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    vector.print %v : i32
    memref.store %v, %a[%t] : memref<?xi32>
  }
}
