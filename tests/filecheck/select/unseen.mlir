// What pipelines search for unless told otherwise: sizes of subgroups where nobody sees them, and lowerings everywhere.
// RUN: qd-opt %s --to=subgroup --target=amdgpu:gfx1100 | FileCheck %s --check-prefixes=CHECK,UNSEEN
// RUN: qd-opt %s --to=subgroup --target=amdgpu:gfx1100,select | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: qd-opt %s --to=subgroup --target=amdgpu:gfx1100,wave=32 | FileCheck %s --check-prefix=ASKED
// RUN: qd-opt %s --to=subgroup --target=amdgpu:gfx1100,fixed | FileCheck %s --check-prefix=FIXED
// RUN: qd-opt %s --to=plan | qd-opt --qd-select-lowering='target=amdgpu:gfx1100 unseen=true explain=true' 2>&1 -o /dev/null | FileCheck %s --check-prefix=WHY

// FIXED-NOT: qd.select
// FIXED-NOT: qd.wave = 64
// ASKED:     qd.select
// ASKED-NOT: qd.wave = 64

// It stores the sum of its subgroup.
// CHECK-LABEL: func.func private @seen_sums_0
// UNSEEN-SAME:   qd.wave = 32
// ALL-SAME:      qd.wave = 64
// WHY-LABEL:   @seen_sums_0
// WHY:           64 not: subgroups are used, so that results may show the size: 'select' or 'qd.wave = "any"' allows it
qd.grid.kernel @seen(%a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase "sums" blocks(%c1) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.reduce_all add %x : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}

// And says that any size will do.
// CHECK-LABEL: func.func private @any_sums_0
// CHECK-SAME:    qd.wave = 64
qd.grid.kernel @any(%a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase "sums" blocks(%c1) threads(64) attributes {qd.wave = "any"} {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.reduce_all add %x : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}

// Not so, where it is fused with one that does not say it.
// CHECK-LABEL: func.func private @fused_first_second_0
// UNSEEN-SAME:   qd.wave = 32
// ALL-SAME:      qd.wave = 64
qd.grid.kernel @fused(%a: memref<?xi32>, %b: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase "first" blocks(%c1) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.reduce_all add %x : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
  qd.grid.phase "second" blocks(%c1) threads(64) attributes {qd.wave = "any"} {
    %i = qd.simt.block.thread_id
    %x = memref.load %b[%i] : memref<?xi32>
    memref.store %x, %b[%i] : memref<?xi32>
  }
}

// What a block adds up is the same at every size, if it is of integers.
// CHECK-LABEL: func.func private @integers_sums_0
// CHECK-SAME:    qd.wave = 64
// CHECK-LABEL: func.func private @floats_sums_0
// UNSEEN-SAME:   qd.wave = 32
// ALL-SAME:      qd.wave = 64
qd.grid.kernel @integers(%a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase "sums" blocks(%c1) threads(256) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.block.reduce_all add %x : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}

qd.grid.kernel @floats(%a: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase "sums" blocks(%c1) threads(256) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xf32>
    %sum = qd.simt.block.reduce_all add %x : f32
    memref.store %sum, %a[%i] : memref<?xf32>
  }
}

// Bodies that share a layout by subgroups have one size: that of the one which keeps it.
// CHECK-LABEL: func.func private @layout_masks_0
// UNSEEN-SAME:   qd.wave = 32
// ALL-SAME:      qd.wave = 64
qd.grid.kernel @layout(%a: memref<?xi32>, %masks: memref<?xi64>, %b: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  qd.grid.phase "masks" blocks(%c1) threads(64) attributes {qd.wave = "any"} {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.reduce_all add %x : i32
    %c0 = arith.constant 0 : i32
    %is = arith.cmpi sgt, %sum, %c0 : i32
    %mask = qd.simt.ballot %is
    memref.store %mask, %masks[%i] : memref<?xi64>
  }
  qd.grid.phase "lanes" blocks(%c2) threads(64) {
    %i = qd.simt.block.thread_id
    %mask = memref.load %masks[%i] : memref<?xi64>
    %lane = qd.simt.lane_id
    %bits = arith.trunci %mask : i64 to i32
    %sum = arith.addi %lane, %bits : i32
    memref.store %sum, %b[%i] : memref<?xi32>
  }
}

// Phases of an algorithm have the size that is best.
// CHECK-LABEL: func.func private @select_select_up1_0
// CHECK-SAME:    qd.wave = 64
qd.grid.kernel @select(%in: memref<?xi32>, %flags: memref<?xi32>, %out: memref<?xi32>, %kept: memref<i32>,
                       %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.select ins(%in, %flags : memref<?xi32>, memref<?xi32>) outs(%out, %kept : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
