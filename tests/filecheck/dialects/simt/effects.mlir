// A collective is executed by all lanes of its scope where it stands: no pass may merge, hoist or sink it across control flow, though
// an unused one may be removed. Ops that only name a lane are plain arithmetic.
// RUN: qd-opt %s --cse | FileCheck %s --check-prefixes=CHECK,CSE
// RUN: qd-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefixes=CHECK,LICM
// RUN: qd-opt %s --control-flow-sink | FileCheck %s --check-prefixes=CHECK,SINK
// RUN: qd-opt %s --canonicalize | FileCheck %s --check-prefixes=CHECK,CANON

// Merged by CSE, the one in the branch would be the one outside, which other lanes take part in.
// CHECK-LABEL: func.func @across_regions(
func.func @across_regions(%p: i1, %v: i32) -> (i64, i64) {
  // CHECK: qd.simt.ballot
  // CHECK: scf.if
  // CHECK: qd.simt.ballot
  %outside = qd.simt.ballot %p
  %inside = scf.if %p -> i64 {
    %mask = qd.simt.ballot %p
    scf.yield %mask : i64
  } else {
    %zero = arith.constant 0 : i64
    scf.yield %zero : i64
  }
  return %outside, %inside : i64, i64
}

// Two in one block are executed by the same lanes.
// CHECK-LABEL: func.func @in_one_block(
func.func @in_one_block(%v: f32, %lane: i32) -> (f32, f32) {
  // CSE-NEXT: %[[S:.*]] = qd.simt.shuffle
  // CSE-NEXT: return %[[S]], %[[S]]
  %0 = qd.simt.shuffle idx %v, %lane : f32
  %1 = qd.simt.shuffle idx %v, %lane : f32
  return %0, %1 : f32, f32
}

// Lanes may leave a loop at different times: its body is not its surroundings.
// CHECK-LABEL: func.func @loop(
func.func @loop(%n: index, %v: i32, %a: memref<?xi32>) {
  // LICM: %[[LANE:.*]] = qd.simt.lane_id
  // CHECK: scf.for
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: qd.simt.reduce_all
    // CHECK: qd.simt.block.reduce_all
    // LICM-NOT: qd.simt.lane_id
    %sum = qd.simt.reduce_all add %v : i32
    %total = qd.simt.block.reduce_all add %v : i32
    %lane = qd.simt.lane_id
    %x = arith.addi %sum, %total : i32
    %y = arith.addi %x, %lane : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
  return
}

// CHECK-LABEL: func.func @sink(
func.func @sink(%p: i1, %v: f32) -> f32 {
  // CHECK: qd.simt.broadcast_first
  // SINK-NOT: qd.simt.lane_id
  // CHECK: scf.if
  // SINK: qd.simt.lane_id
  %first = qd.simt.broadcast_first %v : f32
  %lane = qd.simt.lane_id
  %r = scf.if %p -> f32 {
    %f = arith.sitofp %lane : i32 to f32
    %x = arith.addf %first, %f : f32
    scf.yield %x : f32
  } else {
    scf.yield %v : f32
  }
  return %r : f32
}

// Without a use a collective may go; a barrier and a fence may not.
// CHECK-LABEL: func.func @unused(
func.func @unused(%v: f32, %p: i1) {
  // CANON-NEXT: qd.simt.sync
  // CANON-NEXT: qd.simt.mem_fence
  // CANON-NEXT: qd.simt.block.sync
  // CANON-NEXT: qd.simt.block.mem_fence
  // CANON-NEXT: return
  %0 = qd.simt.reduce add %v : f32
  %1 = qd.simt.ballot %p
  %2 = qd.simt.block.reduce_all add %v : f32
  qd.simt.sync
  qd.simt.mem_fence
  qd.simt.block.sync
  qd.simt.block.mem_fence
  return
}

// A barrier is an effect on memory: loads do not move over it.
// CHECK-LABEL: func.func @barrier(
func.func @barrier(%a: memref<?xi32>, %i: index) -> (i32, i32) {
  // CHECK: memref.load
  // CHECK: qd.simt.block.sync
  // CHECK: memref.load
  %0 = memref.load %a[%i] : memref<?xi32>
  qd.simt.block.sync
  %1 = memref.load %a[%i] : memref<?xi32>
  return %0, %1 : i32, i32
}
