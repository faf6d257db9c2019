// A host that computes with the subgroup size has that of the kernel's phases, which they have in common.
// RUN: qd-opt %s --qd-plan-launches --qd-select-lowering=target=amdgpu:gfx1100 --split-input-file --verify-diagnostics | FileCheck %s

// The default, though 64 lanes take less.
// CHECK-LABEL: qd.grid.kernel @default(
// CHECK:         %[[SIZE:.*]] = arith.constant 32 : i32
// CHECK:         %[[BLOCKS:.*]] = arith.index_cast %[[SIZE]]
// CHECK:         qd.grid.launch 0 @default_sums_0 blocks(%[[BLOCKS]])
qd.grid.kernel @default(%a: memref<?xi32>) {
  %size = qd.simt.subgroup_size
  %blocks = arith.index_cast %size : i32 to index
  qd.grid.phase "sums" blocks(%blocks) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.reduce_all add %x : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}

// What one phase says.
// CHECK-LABEL: func.func private @said_more_1
// CHECK-SAME:    qd.wave = 64
// CHECK-LABEL: qd.grid.kernel @said(
// CHECK:         arith.constant 6 : i32
qd.grid.kernel @said(%a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  %log2 = qd.simt.log2_subgroup_size
  %blocks = arith.index_cast %log2 : i32 to index
  qd.grid.phase "few" blocks(%c1) threads(64) attributes {qd.wave = 64 : i64} {
    %i = qd.simt.block.thread_id
    %c2 = arith.constant 2 : i32
    memref.store %c2, %a[%i] : memref<?xi32>
  }
  qd.grid.phase "more" blocks(%blocks) threads(64) {
    %i = qd.simt.block.thread_id
    %lane = qd.simt.lane_id
    memref.store %lane, %a[%i] : memref<?xi32>
  }
}

// Blocks that fill no subgroups have the size that is said, too.
// CHECK-LABEL: func.func private @uneven_few_0
// CHECK-SAME:    qd.wave = 64
// CHECK-LABEL: func.func private @uneven_odd_1
// CHECK-SAME:    qd.wave = 64
qd.grid.kernel @uneven(%a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  %size = qd.simt.subgroup_size
  %blocks = arith.index_cast %size : i32 to index
  qd.grid.phase "few" blocks(%c1) threads(64) attributes {qd.wave = 64 : i64} {
    %i = qd.simt.block.thread_id
    %c4 = arith.constant 4 : i32
    memref.store %c4, %a[%i] : memref<?xi32>
  }
  qd.grid.phase "odd" blocks(%blocks) threads(33) {
    %i = qd.simt.block.thread_id
    %lane = qd.simt.lane_id
    memref.store %lane, %a[%i] : memref<?xi32>
  }
}

// -----

// A kernel that is dispatched to has the size that the host which dispatches computes with.
// CHECK-LABEL: func.func private @sums_sums_0
// CHECK-SAME:    qd.wave = 32
qd.grid.kernel private @sums(%a: memref<?xi32>, %blocks: index) {
  qd.grid.phase "sums" blocks(%blocks) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.reduce_all add %x : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}
qd.grid.kernel @dispatching(%a: memref<?xi32>) {
  %size = qd.simt.subgroup_size
  %blocks = arith.index_cast %size : i32 to index
  qd.grid.dispatch(%a, %blocks : memref<?xi32>, index) {
    qd.grid.variant @sums
  }
}

// -----

qd.grid.kernel @both(%a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'qd.simt.subgroup_size' op is 32 in one of the kernel's phases, and 64 in another}}
  %size = qd.simt.subgroup_size
  %blocks = arith.index_cast %size : i32 to index
  qd.grid.phase blocks(%c1) threads(64) attributes {qd.wave = 32 : i64} {
    %i = qd.simt.block.thread_id
    %c2 = arith.constant 2 : i32
    memref.store %c2, %a[%i] : memref<?xi32>
  }
  qd.grid.phase blocks(%blocks) threads(64) attributes {qd.wave = 64 : i64} {
    %i = qd.simt.block.thread_id
    %c3 = arith.constant 3 : i32
    memref.store %c3, %a[%i] : memref<?xi32>
  }
}
