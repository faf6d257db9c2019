// Loops carry words in place of booleans: NVIDIA's compiler of SPIR-V reads through a null pointer in some loops with phis of booleans.
// RUN: qd-translate %s --target=vulkan:1.3,subgroup=32 --emit=asm | FileCheck %s

// CHECK-DAG:  [[WORD:%[a-z]+]] = OpTypeInt 32 0
// CHECK-DAG:  [[BOOL:%[a-z]+]] = OpTypeBool
// CHECK-NOT:  OpPhi [[BOOL]]
// CHECK:      OpPhi [[WORD]]
// CHECK-NOT:  OpPhi [[BOOL]]
qd.grid.kernel @main(%a: memref<?xi1>, %n: memref<?xi32>) {
  %blocks = arith.constant 1 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %t = qd.simt.block.thread_id
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %false = arith.constant false
    %x = memref.load %a[%t] : memref<?xi1>
    %m = memref.load %n[%t] : memref<?xi32>
    %upper = arith.index_cast %m : i32 to index
    %swapped:2 = scf.for %i = %i0 to %upper step %i1 iter_args(%p = %x, %q = %false) -> (i1, i1) {
      scf.yield %q, %p : i1, i1
    }
    %left:2 = scf.while (%k = %m, %p = %swapped#0) : (i32, i1) -> (i32, i1) {
      %more = arith.cmpi sgt, %k, %zero : i32
      %goes_on = arith.andi %more, %p : i1
      scf.condition(%goes_on) %k, %p : i32, i1
    } do {
    ^bb0(%k: i32, %p: i1):
      %less = arith.subi %k, %one : i32
      %odd = arith.trunci %less : i32 to i1
      scf.yield %less, %odd : i32, i1
    }
    memref.store %left#1, %a[%t] : memref<?xi1>
    memref.store %left#0, %n[%t] : memref<?xi32>
  }
}
