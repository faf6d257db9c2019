// Floats are summed as the target's own form sums them, however dear that is: an expansion adds them in another order. Integers are not.

// RUN: qd-opt %s --to=plan | qd-opt --qd-select-lowering='target=cpu wave=4 costs=%S/Inputs/dear-reductions.json' | FileCheck %s

// CHECK-LABEL: func.func private @floats
// CHECK:         qd.simt.reduce_all add
qd.grid.kernel @floats(%a: memref<?xf32>) {
  %blocks = arith.constant 1 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xf32>
    %sum = qd.simt.reduce_all add %v : f32
    memref.store %sum, %a[%t] : memref<?xf32>
  }
}

// CHECK-LABEL: func.func private @integers
// CHECK-NOT:     qd.simt.reduce_all
qd.grid.kernel @integers(%a: memref<?xi32>) {
  %blocks = arith.constant 1 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %sum = qd.simt.reduce_all add %v : i32
    memref.store %sum, %a[%t] : memref<?xi32>
  }
}
