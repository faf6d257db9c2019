// Functions are part of the bodies that call them, with whatever collectives they hold, and nothing else is left of them.
// RUN: qd-translate %s --target=nvptx:sm_90 --emit=asm | FileCheck %s --implicit-check-not=.func --implicit-check-not=call

// CHECK-LABEL: .entry first_{{[0-9a-f]+}}(
// CHECK:         clz.b32
// CHECK:         shfl.sync.bfly
// CHECK-LABEL: .entry second_{{[0-9a-f]+}}(
// CHECK:         clz.b32
// CHECK:         shfl.sync.bfly
func.func private @mixed(%x: i32) -> i32 {
  %one = arith.constant 1 : i32
  %zeros = qd.math.clz %x : i32
  %other = func.call @other(%zeros) : (i32) -> i32
  %r = arith.muli %other, %x : i32
  return %r : i32
}
func.func private @other(%x: i32) -> i32 {
  %one = arith.constant 1 : i32
  %other = qd.simt.shuffle xor %x, %one : i32
  return %other : i32
}
func.func @unused(%x: i32) -> i32 {
  %0 = qd.simt.reduce_all add %x : i32
  return %0 : i32
}
qd.grid.kernel @k(%a: memref<?xi32>, %b: memref<?xi32>, %g: index) {
  qd.grid.phase "first" blocks(%g) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    %y = func.call @mixed(%x) : (i32) -> i32
    memref.store %y, %b[%i] : memref<?xi32>
  }
  qd.grid.phase "second" blocks(%g) threads(128) {
    %i = qd.simt.block.thread_id
    %x = memref.load %b[%i] : memref<?xi32>
    %y = func.call @mixed(%x) : (i32) -> i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
