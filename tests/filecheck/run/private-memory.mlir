// Private memory costs its block's stack once, however many blocks one host thread runs.
// RUN: qd-run %s --arg a=iota[4000000] --print a | FileCheck %s
// CHECK: a = [0, 3, 3, 3, 4, 3, 3, 3

qd.grid.kernel @main(%a: memref<?xi32> {qd.name = "a"}) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : i32
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each %i to %len {
    // An index that is not known keeps LLVM from keeping it in registers.
    %own = memref.alloca() : memref<256xi32>
    %x = memref.load %a[%i] : memref<?xi32>
    %low = arith.andi %x, %c3 : i32
    %at = arith.index_cast %low : i32 to index
    memref.store %c3, %own[%c0] : memref<256xi32>
    memref.store %x, %own[%at] : memref<256xi32>
    %y = memref.load %own[%c0] : memref<256xi32>
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
