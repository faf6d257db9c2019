// What each step of a plan waits for, in the same list of steps. Launches wait for
// what they depend on, or for the last step that is none; such a step waits for all
// before it that nobody has waited for.

// RUN: qd-translate %s --emit=plan | %python %S/Inputs/steps.py | FileCheck %s --match-full-lines --strict-whitespace

//      CHECK:0 a: []
// CHECK-NEXT:1 b: []
// CHECK-NEXT:2 c: [1]
// CHECK-NEXT:3 fill: [0, 2]
// CHECK-NEXT:4 d: [3]
// CHECK-NEXT:5 e: [3]
// CHECK-NEXT:6 do_while: [4, 5]
// CHECK-NEXT:  7 f: []
// CHECK-NEXT:  8 if: [7]
// CHECK-NEXT:    9 g: []
// CHECK-NEXT:  10 h: [8]
// CHECK-NEXT:11 fill: [6]
// CHECK-NEXT:12 dispatch: [11]
qd.grid.kernel @k(%x: memref<?xi32>, %y: memref<?xi32>, %z: memref<?xi32>, %flag: memref<i32>, %blocks: index) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1 : i32
  qd.grid.phase "a" blocks(%blocks) threads(64) {
    %i = qd.simt.block.thread_id
    memref.store %one, %x[%i] : memref<?xi32>
  }
  qd.grid.phase "b" blocks(%blocks) threads(128) {
    %i = qd.simt.block.thread_id
    memref.store %one, %y[%i] : memref<?xi32>
  }
  qd.grid.phase "c" blocks(%blocks) threads(256) {
    %i = qd.simt.block.thread_id
    %v = memref.load %y[%i] : memref<?xi32>
    memref.store %v, %z[%i] : memref<?xi32>
  }
  qd.grid.fill %z[%c0 to %c9] = %one : memref<?xi32>
  qd.grid.phase "d" blocks(%blocks) threads(64) {
    %i = qd.simt.block.thread_id
    %v = memref.load %x[%i] : memref<?xi32>
    memref.store %v, %y[%i] : memref<?xi32>
  }
  qd.grid.phase "e" blocks(%blocks) threads(128) {
    %i = qd.simt.block.thread_id
    %v = memref.load %x[%i] : memref<?xi32>
    memref.store %v, %z[%i] : memref<?xi32>
  }
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.phase "f" blocks(%blocks) threads(64) {
      %i = qd.simt.block.thread_id
      %old = memref.atomic_rmw addi %one, %flag[] : (i32, memref<i32>) -> i32
    }
    qd.grid.if %flag : memref<i32> {
      qd.grid.phase "g" blocks(%blocks) threads(64) {
        %i = qd.simt.block.thread_id
        memref.store %one, %x[%i] : memref<?xi32>
      }
    }
    qd.grid.phase "h" blocks(%blocks) threads(128) {
      %i = qd.simt.block.thread_id
      memref.store %one, %y[%i] : memref<?xi32>
    }
  }
  qd.grid.fill %z[%c0 to %c9] = %one : memref<?xi32>
  qd.grid.dispatch(%x : memref<?xi32>) {
    qd.grid.variant @other
  }
}

qd.grid.kernel @other(%x: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1 : i32
  qd.grid.fill %x[%c0 to %c9] = %one : memref<?xi32>
}
