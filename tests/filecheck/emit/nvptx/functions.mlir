// Bodies are compiled one by one. A function that cannot be inlined, because it
// calls itself, is there once for each body that calls it, under the body's name.
// RUN: qd-translate %s --target=nvptx:sm_90 --emit=asm | FileCheck %s

// CHECK-LABEL: .entry k_first_0(
// CHECK:         call.uni (retval0), k_first_0$halves,
// CHECK:       .func {{.*}} k_first_0$halves(
// CHECK-LABEL: .entry k_second_1(
// CHECK:         call.uni (retval0), k_second_1$halves,
// CHECK:       .func {{.*}} k_second_1$halves(
// CHECK-NOT:   .func {{.*}} unused
func.func private @halves(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ends = arith.cmpi eq, %x, %zero : i32
  %result = scf.if %ends -> i32 {
    scf.yield %zero : i32
  } else {
    %half = arith.shrui %x, %one : i32
    %rest = func.call @halves(%half) : (i32) -> i32
    %odd = arith.xori %rest, %x : i32
    %mixed = arith.muli %odd, %rest : i32
    scf.yield %mixed : i32
  }
  return %result : i32
}
func.func private @unused(%x: i32) -> i32 {
  return %x : i32
}
qd.grid.kernel @k(%a: memref<?xi32>, %b: memref<?xi32>, %g: index) {
  qd.grid.phase "first" blocks(%g) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    %y = func.call @halves(%x) : (i32) -> i32
    memref.store %y, %b[%i] : memref<?xi32>
  }
  qd.grid.phase "second" blocks(%g) threads(128) {
    %i = qd.simt.block.thread_id
    %x = memref.load %b[%i] : memref<?xi32>
    %y = func.call @halves(%x) : (i32) -> i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
