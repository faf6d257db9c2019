// Every op of phases and launches, in every form it can be written in.
// RUN: qd-opt %s | FileCheck %s

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// CHECK-LABEL: qd.grid.kernel @nothing() {
qd.grid.kernel @nothing() {
}

// CHECK-LABEL: qd.grid.kernel private @arguments(%arg0: memref<?xf32> {qd.may_alias}, %arg1: memref<?x3xi32> {qd.dtype = "u32", qd.may_alias}, %arg2: memref<i32> {qd.name = "count"}, %arg3: f64, %arg4: index, %arg5: memref<?xi8> {qd.dtype = "u8", qd.scratch}) attributes {note = "kept"} {
qd.grid.kernel private @arguments(%a: memref<?xf32> {qd.may_alias}, %b: memref<?x3xi32> {qd.dtype = "u32", qd.may_alias}, %n: memref<i32> {qd.name = "count"}, %x: f64, %len: index, %bytes: memref<?xi8> {qd.dtype = "u8", qd.scratch}) attributes {note = "kept"} {
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

// CHECK-LABEL: qd.grid.kernel @phases(%arg0: memref<?xf32>, %arg1: index, %arg2: memref<i32>, %arg3: memref<i64>, %arg4: memref<i32>) {
qd.grid.kernel @phases(%a: memref<?xf32>, %blocks: index, %n: memref<i32>, %n64: memref<i64>, %flag: memref<i32>) {
  // CHECK: qd.grid.phase blocks(%arg1) threads(64) {
  qd.grid.phase blocks(%blocks) threads(64) {
  }
  // CHECK: qd.grid.phase "named" blocks(%arg1) threads(1024) attributes {note = "kept"} {
  qd.grid.phase "named" blocks(%blocks) threads(1024) attributes {note = "kept"} {
    // CHECK: qd.simt.block.sync
    qd.simt.block.sync
  }
  // CHECK: qd.grid.for_each %arg5 to %arg1 {
  qd.grid.for_each %i to %blocks {
  }
  // CHECK: qd.grid.for_each "named" %arg5 to %arg1 {
  qd.grid.for_each "named" %i to %blocks {
    %x = memref.load %a[%i] : memref<?xf32>
    memref.store %x, %a[%i] : memref<?xf32>
  }
  // CHECK: qd.grid.for_each %arg5 to %arg1 count(%arg2 : memref<i32>) {
  qd.grid.for_each %i to %blocks count(%n : memref<i32>) {
  }
  // CHECK: qd.grid.for_each "named" %arg5 to %arg1 count(%arg3 : memref<i64>) attributes {note = "kept"} {
  qd.grid.for_each "named" %i to %blocks count(%n64 : memref<i64>) attributes {note = "kept"} {
  }
  // CHECK: qd.grid.do_while %arg4 : memref<i32> {
  qd.grid.do_while %flag : memref<i32> {
    // CHECK: qd.grid.phase blocks(%arg1) threads(64) {
    qd.grid.phase blocks(%blocks) threads(64) {
    }
    // CHECK: qd.grid.do_while %arg4 : memref<i32> attributes {note = "kept"} {
    qd.grid.do_while %flag : memref<i32> attributes {note = "kept"} {
    }
    // CHECK: qd.grid.if %arg4 : memref<i32> {
    qd.grid.if %flag : memref<i32> {
      // CHECK: qd.grid.do_while %arg4 : memref<i32> {
      qd.grid.do_while %flag : memref<i32> {
      }
    }
  }
  // CHECK: %[[WORD:.*]] = qd.grid.control : memref<1xi32>
  %word = qd.grid.control : memref<1xi32>
  // CHECK: qd.grid.if %[[WORD]] : memref<1xi32> attributes {note = "kept"} {
  qd.grid.if %word : memref<1xi32> attributes {note = "kept"} {
    // CHECK: qd.grid.fill
    %c0 = arith.constant 0 : index
    %x = arith.constant 1.0 : f32
    qd.grid.fill %a[%c0 to %blocks] = %x : memref<?xf32>
    // CHECK: qd.grid.if %arg4 : memref<i32> {
    qd.grid.if %flag : memref<i32> {
    }
  }
}

// A thread's private memory ends with its body.
// CHECK-LABEL: qd.grid.kernel @allocations(
qd.grid.kernel @allocations(%blocks: index) {
  // CHECK: qd.grid.phase blocks(%arg0) threads(64) {
  // CHECK-NEXT: memref.alloca() : memref<4xi32>
  qd.grid.phase blocks(%blocks) threads(64) {
    %own = memref.alloca() : memref<4xi32>
  }
  // CHECK: qd.grid.for_each %arg1 to %arg0 {
  // CHECK-NEXT: memref.alloca() : memref<4xi32>
  qd.grid.for_each %i to %blocks {
    %own = memref.alloca() : memref<4xi32>
  }
}

// An elementwise body may order its memory accesses and compute masks: neither depends on the executing thread.
// CHECK-LABEL: qd.grid.kernel @threadless(
qd.grid.kernel @threadless(%len: index, %lane: i32) {
  // CHECK: qd.grid.for_each
  // CHECK-NEXT: qd.simt.lanemask lt %arg1 : i64
  // CHECK-NEXT: qd.grid.mem_fence
  // CHECK-NEXT: qd.simt.block.mem_fence
  qd.grid.for_each %i to %len {
    %below = qd.simt.lanemask lt %lane : i64
    qd.grid.mem_fence
    qd.simt.block.mem_fence
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func private @body(
func.func private @body(%a: memref<?xf32>, %x: f32) attributes {qd.threads = 256 : i64} {
  return
}
// CHECK-LABEL: func.func private @bare(
func.func private @bare() attributes {qd.threads = 64 : i64} {
  return
}

// CHECK-LABEL: qd.grid.kernel @launches(%arg0: memref<?xf32>, %arg1: f32, %arg2: index) {
qd.grid.kernel @launches(%a: memref<?xf32>, %x: f32, %blocks: index) {
  // CHECK: qd.grid.launch 0 @bare blocks(%arg2)
  qd.grid.launch 0 @bare blocks(%blocks)
  // CHECK: qd.grid.launch 1 @body blocks(%arg2) args(%arg0, %arg1 : memref<?xf32>, f32)
  qd.grid.launch 1 @body blocks(%blocks) args(%a, %x : memref<?xf32>, f32)
  // CHECK: qd.grid.launch 2 @bare blocks(%arg2) after [0]
  qd.grid.launch 2 @bare blocks(%blocks) after [0]
  // CHECK: qd.grid.launch 7 @body blocks(%arg2) args(%arg0, %arg1 : memref<?xf32>, f32) after [1, 2] {note = "kept"}
  qd.grid.launch 7 @body blocks(%blocks) args(%a, %x : memref<?xf32>, f32) after [1, 2] {note = "kept"}
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

// CHECK-LABEL: qd.grid.kernel @control(
qd.grid.kernel @control(%flag: memref<i32>) {
  // CHECK: qd.grid.control : memref<1xi32>
  %0 = qd.grid.control : memref<1xi32>
  // CHECK: qd.grid.do_while
  qd.grid.do_while %flag : memref<i32> {
    // CHECK: qd.grid.control {note = "kept"} : memref<1023xi32>
    %1 = qd.grid.control {note = "kept"} : memref<1023xi32>
  }
}

// CHECK-LABEL: qd.grid.kernel @buffers(%arg0: memref<?xf32>, %arg1: memref<?xi32>, %arg2: memref<256xi32>, %arg3: index, %arg4: index, %arg5: f32) {
qd.grid.kernel @buffers(%a: memref<?xf32>, %s: memref<?xi32>, %fixed: memref<256xi32>, %lower: index, %upper: index, %x: f32) {
  // CHECK: qd.grid.fill %arg0[%arg3 to %arg4] = %arg5 : memref<?xf32>
  qd.grid.fill %a[%lower to %upper] = %x : memref<?xf32>
  // CHECK: qd.grid.fill %arg0[%arg3 to %arg4] = %arg5 {note = "kept"} : memref<?xf32>
  qd.grid.fill %a[%lower to %upper] = %x {note = "kept"} : memref<?xf32>
  // CHECK: qd.grid.view %arg1[%arg3] [%arg4] : memref<?xi32> to memref<?xf32>
  %0 = qd.grid.view %s[%lower] [%upper] : memref<?xi32> to memref<?xf32>
  // CHECK: qd.grid.view %arg1[%arg3] [%arg4] : memref<?xi32> to memref<?xf64>
  %1 = qd.grid.view %s[%lower] [%upper] : memref<?xi32> to memref<?xf64>
  // CHECK: qd.grid.view %arg2[%arg3] [%arg4] {note = "kept"} : memref<256xi32> to memref<16xi64>
  %2 = qd.grid.view %fixed[%lower] [%upper] {note = "kept"} : memref<256xi32> to memref<16xi64>
  // CHECK: %[[ONE:.*]] = qd.grid.view %arg2[%arg3] : memref<256xi32> to memref<i32>
  %one = qd.grid.view %fixed[%lower] : memref<256xi32> to memref<i32>
  %word = arith.constant 1 : i32
  // CHECK: qd.grid.fill %[[ONE]] = %{{.*}} : memref<i32>
  qd.grid.fill %one = %word : memref<i32>
  // CHECK: qd.grid.for_each %{{.*}} to %arg4 count(%[[ONE]] : memref<i32>)
  qd.grid.for_each %i to %upper count(%one : memref<i32>) {
  }
  %c1 = arith.constant 1 : index
  // CHECK: %[[SAME:.*]] = qd.grid.view %arg2[%arg3] [%{{.*}}] : memref<256xi32> to memref<1xi32>
  %same = qd.grid.view %fixed[%lower] [%c1] : memref<256xi32> to memref<1xi32>
  // CHECK: qd.grid.do_while %[[SAME]] : memref<1xi32>
  qd.grid.do_while %same : memref<1xi32> {
  }
}

//===----------------------------------------------------------------------===//
// Memory ordering
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @atomics(
func.func @atomics(%a: memref<?xi32>, %d: memref<4x?xf64>, %cell: memref<i64>, %i: index, %x: i32, %y: f64, %z: i64) {
  // CHECK: qd.grid.mem_fence
  qd.grid.mem_fence
  // CHECK: qd.grid.mem_fence {note = "kept"}
  qd.grid.mem_fence {note = "kept"}
  // CHECK: qd.grid.atomic.rmw add %arg4, %arg0[%arg3] device relaxed : memref<?xi32>
  %0 = qd.grid.atomic.rmw add %x, %a[%i] device relaxed : memref<?xi32>
  // CHECK: qd.grid.atomic.rmw minnumf %arg5, %arg1[%arg3, %arg3] block acq_rel : memref<4x?xf64>
  %1 = qd.grid.atomic.rmw minnumf %y, %d[%i, %i] block acq_rel : memref<4x?xf64>
  // CHECK: qd.grid.atomic.rmw or %arg6, %arg2[] subgroup acquire {note = "kept"} : memref<i64>
  %2 = qd.grid.atomic.rmw or %z, %cell[] subgroup acquire {note = "kept"} : memref<i64>
  // CHECK: qd.grid.atomic.load %arg0[%arg3] device acquire : memref<?xi32>
  %3 = qd.grid.atomic.load %a[%i] device acquire : memref<?xi32>
  // CHECK: qd.grid.atomic.load %arg2[] block relaxed {note = "kept"} : memref<i64>
  %4 = qd.grid.atomic.load %cell[] block relaxed {note = "kept"} : memref<i64>
  // CHECK: qd.grid.atomic.store %arg4, %arg0[%arg3] device release : memref<?xi32>
  qd.grid.atomic.store %x, %a[%i] device release : memref<?xi32>
  // CHECK: qd.grid.atomic.store %arg5, %arg1[%arg3, %arg3] device relaxed {note = "kept"} : memref<4x?xf64>
  qd.grid.atomic.store %y, %d[%i, %i] device relaxed {note = "kept"} : memref<4x?xf64>
  // CHECK: qd.grid.atomic.cas %arg4, %arg4, %arg0[%arg3] device acq_rel : memref<?xi32>
  %5 = qd.grid.atomic.cas %x, %x, %a[%i] device acq_rel : memref<?xi32>
  // CHECK: qd.grid.atomic.cas %arg6, %arg6, %arg2[] block release {note = "kept"} : memref<i64>
  %6 = qd.grid.atomic.cas %z, %z, %cell[] block release {note = "kept"} : memref<i64>
  return
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

// CHECK-LABEL: qd.grid.kernel @large(%arg0: memref<?xf32>, %arg1: index) {
qd.grid.kernel @large(%a: memref<?xf32>, %n: index) {
}
// CHECK-LABEL: qd.grid.kernel @any_size(%arg0: memref<?xf32>, %arg1: index) {
qd.grid.kernel @any_size(%a: memref<?xf32>, %n: index) {
}

// CHECK-LABEL: qd.grid.kernel @dispatch(%arg0: memref<?xf32>, %arg1: index) {
qd.grid.kernel @dispatch(%a: memref<?xf32>, %n: index) {
  // CHECK: qd.grid.dispatch(%arg0, %arg1 : memref<?xf32>, index) {
  qd.grid.dispatch(%a, %n : memref<?xf32>, index) {
    // CHECK: qd.grid.variant @large when {
    qd.grid.variant @large when {
      %c1024 = arith.constant 1024 : index
      %p = arith.cmpi uge, %n, %c1024 : index
      // CHECK: qd.yield %0 : i1
      qd.yield %p : i1
    }
    // CHECK: qd.grid.variant @any_size
    qd.grid.variant @any_size
  }
  // CHECK: qd.grid.dispatch() attributes {note = "kept"} {
  qd.grid.dispatch() attributes {note = "kept"} {
    // CHECK: qd.grid.variant @nothing {note = "kept"}
    qd.grid.variant @nothing {note = "kept"}
  }
}

// The names of swapped buffers are the region's arguments; elements that share subgroups; scratch.
// CHECK-LABEL: qd.grid.kernel @language(%arg0: memref<?xi32>, %arg1: memref<?xi32>, %arg2: memref<i32>, %arg3: index, %arg4: memref<?x?x4xf64>) {
qd.grid.kernel @language(%a: memref<?xi32>, %b: memref<?xi32>, %flag: memref<i32>, %len: index,
                         %t: memref<?x?x4xf64>) {
  // CHECK: qd.grid.do_while %arg2 : memref<i32> swap(%arg5 = %arg0, %arg6 = %arg1 : memref<?xi32>, memref<?xi32>) attributes {note = "kept"} {
  qd.grid.do_while %flag : memref<i32> swap(%x = %a, %y = %b : memref<?xi32>, memref<?xi32>) attributes {note = "kept"} {
    // CHECK: qd.grid.for_each %arg7 to %arg3 {
    qd.grid.for_each %i to %len {
      %v = memref.load %x[%i] : memref<?xi32>
      memref.store %v, %y[%i] : memref<?xi32>
    }
  }
  // CHECK: qd.grid.do_while %arg2 : memref<i32> swap(%arg5 = %arg0, %arg6 = %arg1 : memref<?xi32>, memref<?xi32>) {
  qd.grid.do_while %flag : memref<i32> swap(%x = %a, %y = %b : memref<?xi32>, memref<?xi32>) {
  }
  // CHECK: qd.grid.for_each "sums" %arg5 to %arg3 count(%arg2 : memref<i32>) subgroups(partial) attributes {note = "kept"} {
  qd.grid.for_each "sums" %i to %len count(%flag : memref<i32>) subgroups(partial) attributes {note = "kept"} {
    %v = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.reduce_all add %v : i32
    memref.store %sum, %b[%i] : memref<?xi32>
  }
  // CHECK: qd.grid.for_each %arg5 to %arg3 threads(33) subgroups(partial) {
  qd.grid.for_each %i to %len threads(33) subgroups(partial) {
    qd.simt.sync
  }
  // CHECK: qd.grid.for_each %arg5 to %arg3 threads(1024) {
  qd.grid.for_each %i to %len threads(1024) {
  }
  // CHECK: qd.grid.for_each %arg5 to %arg3 subgroups(full) {
  qd.grid.for_each %i to %len subgroups(full) {
    %lane = qd.simt.lane_id
    %first = qd.simt.elect
    %size = qd.simt.subgroup_size
    qd.simt.sync
  }
  // CHECK: qd.grid.scratch : memref<2xf64>
  %s = qd.grid.scratch : memref<2xf64>
  // CHECK: qd.grid.view %arg4[%arg3] [%arg3] : memref<?x?x4xf64> to memref<?xf64>
  %view = qd.grid.view %t[%len] [%len] : memref<?x?x4xf64> to memref<?xf64>
}
