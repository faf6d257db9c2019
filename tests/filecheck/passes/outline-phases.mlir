// Each phase becomes a private function with `qd.threads` and a launch of it, in
// program order; a step that is not a phase yet is an error.

// RUN: qd-opt %s --qd-outline-phases --split-input-file --verify-diagnostics | FileCheck %s

// Buffers and scalars become arguments in order of first use, constants are made
// again inside, and the phase's name is part of the body's.
// CHECK-LABEL: func.func private @scale_times_two_0
// CHECK-SAME:    (%[[A:.*]]: memref<?xf32>, %[[N:.*]]: index) attributes {qd.threads = 128 : i64} {
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-DAG:     %[[I:.*]] = qd.simt.block.thread_id
// CHECK:         %[[X:.*]] = memref.load %[[A]][%[[I]]]
// CHECK:         %[[IN:.*]] = arith.cmpi ult, %[[I]], %[[N]]
// CHECK:         scf.if %[[IN]] {
// CHECK:           arith.mulf %[[X]], %[[TWO]]
// CHECK:           memref.store %{{.*}}, %[[A]][%[[I]]]
// CHECK:         }
// CHECK-NEXT:    return

// CHECK-LABEL: qd.grid.kernel @scale
// CHECK-SAME:    (%[[KA:.*]]: memref<?xf32>, %[[KN:.*]]: index)
// CHECK:         %[[G:.*]] = arith.constant 3 : index
// CHECK:         qd.grid.launch 0 @scale_times_two_0 blocks(%[[G]]) args(%[[KA]], %[[KN]] : memref<?xf32>, index) {qd.phase = "times two"}
qd.grid.kernel @scale(%a: memref<?xf32>, %n: index) {
  %g = arith.constant 3 : index
  %two = arith.constant 2.0 : f32
  qd.grid.phase "times two" blocks(%g) threads(128) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xf32>
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      %y = arith.mulf %x, %two : f32
      memref.store %y, %a[%i] : memref<?xf32>
    }
  }
}

// -----

// Names that are taken are passed over; phases in loops are outlined too; each
// launch waits for the one before it in its own sequence.
// CHECK: func.func private @k_phase_0_1(
// CHECK: func.func private @k_phase_1(
// CHECK: func.func private @k_phase_2(
// CHECK: func.func private @k_phase_3(
// CHECK-LABEL: qd.grid.kernel @k
// CHECK:         qd.grid.launch 0 @k_phase_0_1 blocks
// CHECK:         qd.grid.do_while
// CHECK-NEXT:      qd.grid.launch 1 @k_phase_1 blocks
// CHECK-NOT:       after
// CHECK-NEXT:      qd.grid.launch 2 @k_phase_2 blocks
// CHECK-SAME:        after [1]
// CHECK:         qd.grid.launch 3 @k_phase_3 blocks
// CHECK-SAME:      after [0]
func.func private @k_phase_0()
qd.grid.kernel @k(%g: index, %flag: memref<i32>) {
  qd.grid.phase blocks(%g) threads(64) {
    qd.simt.block.sync
  }
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.phase blocks(%g) threads(64) {
      qd.simt.block.sync
    }
    qd.grid.phase blocks(%g) threads(64) {
      qd.simt.block.sync
    }
  }
  qd.grid.phase blocks(%g) threads(64) {
    qd.simt.block.sync
  }
}

// -----

// A kernel without phases stays as it is.
// CHECK-LABEL: qd.grid.kernel @only_a_fill
// CHECK-NEXT:    qd.grid.fill
// CHECK-NOT:     launch
qd.grid.kernel @only_a_fill(%a: memref<?xi32>, %l: index, %v: i32) {
  qd.grid.fill %a[%l to %l] = %v : memref<?xi32>
}

// -----

qd.grid.kernel @each(%n: index) {
  // expected-error @+1 {{'qd.grid.for_each' op has to become a phase first: run qd-expand-for-each}}
  qd.grid.for_each %i to %n {
  }
}

// -----

qd.grid.kernel @algorithm(%a: memref<?xf32>, %out: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error @+1 {{'qd.algo.reduce' op has to be expanded into phases first: run qd-to-grid}}
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
