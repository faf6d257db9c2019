// Steps without effects are removed, and a view of a whole buffer is the buffer; other steps stay, in order.
// RUN: qd-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: qd.grid.kernel @nothing_to_do(
// CHECK-NEXT: }
qd.grid.kernel @nothing_to_do(%a: memref<?xi32>, %len: index, %x: i32) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  qd.grid.phase "no blocks" blocks(%c0) threads(64) {
    %i = qd.simt.block.thread_id
    memref.store %x, %a[%i] : memref<?xi32>
  }
  qd.grid.phase "no effects" blocks(%len) threads(64) {
    %s = qd.simt.reduce add %x : i32
  }
  qd.grid.for_each "no elements" %i to %c0 {
    memref.store %x, %a[%i] : memref<?xi32>
  }
  qd.grid.fill %a[%c8 to %c8] = %x : memref<?xi32>
  qd.grid.fill %a[%c8 to %c0] = %x : memref<?xi32>
}

// CHECK-LABEL: qd.grid.kernel @something_to_do(
qd.grid.kernel @something_to_do(%a: memref<?xi32>, %len: index, %x: i32, %flag: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: qd.grid.phase "one block"
  qd.grid.phase "one block" blocks(%c1) threads(64) {
    %i = qd.simt.block.thread_id
    memref.store %x, %a[%i] : memref<?xi32>
  }
  // CHECK: qd.grid.phase "as many as there are"
  qd.grid.phase "as many as there are" blocks(%len) threads(64) {
    %i = qd.simt.block.thread_id
    memref.store %x, %a[%i] : memref<?xi32>
  }
  // CHECK: qd.grid.phase "a fence"
  qd.grid.phase "a fence" blocks(%len) threads(64) {
    qd.grid.mem_fence
  }
  // CHECK: qd.grid.for_each
  qd.grid.for_each %i to %len {
    memref.store %x, %a[%i] : memref<?xi32>
  }
  // CHECK: qd.grid.fill %arg0[%c0 to %c1]
  // CHECK: qd.grid.fill %arg0[%arg1 to %c1]
  qd.grid.fill %a[%c0 to %c1] = %x : memref<?xi32>
  qd.grid.fill %a[%len to %c1] = %x : memref<?xi32>
  // CHECK: qd.grid.do_while %arg3
  qd.grid.do_while %flag : memref<i32> {
    // CHECK-NEXT: qd.grid.phase "in a loop"
    qd.grid.phase "in a loop" blocks(%len) threads(64) {
      memref.store %x, %flag[] : memref<i32>
    }
  }
}

// CHECK-LABEL: func.func @view(
func.func @view(%s: memref<256xi32>, %d: memref<?xi32>) -> (memref<256xi32>, memref<256xi32>, memref<256xf32>, memref<?xi32>) {
  // CHECK: %[[PART:.*]] = qd.grid.view %arg0[%c1]
  // CHECK: %[[CAST:.*]] = qd.grid.view %arg0[%c0] [%c256] : memref<256xi32> to memref<256xf32>
  // CHECK: %[[LENGTH:.*]] = qd.grid.view %arg1[%c0] [%c256] : memref<?xi32> to memref<?xi32>
  // CHECK: return %arg0, %[[PART]], %[[CAST]], %[[LENGTH]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %0 = qd.grid.view %s[%c0] [%c256] : memref<256xi32> to memref<256xi32>
  %1 = qd.grid.view %s[%c1] [%c256] : memref<256xi32> to memref<256xi32>
  %2 = qd.grid.view %s[%c0] [%c256] : memref<256xi32> to memref<256xf32>
  %3 = qd.grid.view %d[%c0] [%c256] : memref<?xi32> to memref<?xi32>
  return %0, %1, %2, %3 : memref<256xi32>, memref<256xi32>, memref<256xf32>, memref<?xi32>
}

// Atomics and their order are not read-modify-write idioms to be simplified.
// CHECK-LABEL: func.func @atomics(
func.func @atomics(%a: memref<?xi32>, %i: index) {
  // CHECK: qd.grid.atomic.rmw add
  // CHECK: qd.grid.atomic.load
  // CHECK: qd.grid.atomic.store
  // CHECK: qd.grid.atomic.cas
  %c0 = arith.constant 0 : i32
  %0 = qd.grid.atomic.rmw add %c0, %a[%i] device relaxed : memref<?xi32>
  %1 = qd.grid.atomic.load %a[%i] device acquire : memref<?xi32>
  qd.grid.atomic.store %1, %a[%i] device release : memref<?xi32>
  %2 = qd.grid.atomic.cas %c0, %c0, %a[%i] device relaxed : memref<?xi32>
  return
}
