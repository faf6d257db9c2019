// A body is named after its phase, with digits of a hash of its contents.

// RUN: qd-opt %s --qd-name-bodies --split-input-file | FileCheck %s
// RUN: sed 's/wave = 32/wave = 64/' %s | qd-opt --qd-name-bodies --split-input-file > %t.64
// RUN: qd-opt %s --qd-name-bodies --split-input-file | not cmp -s - %t.64

// The same of two kernels is one, wherever it is written; what does something else is not.
// CHECK: func.func private @first_step_[[$A:[0-9a-f]+]](
// CHECK: func.func private @first_step_[[$B:[0-9a-f]+]](
// CHECK-LABEL: qd.grid.kernel @k
// CHECK: launch 0 @first_step_[[$A]] {{.*}} {qd.phase = "first step"}
// CHECK: launch 1 @first_step_[[$B]] {{.*}} {qd.phase = "first step"}
// CHECK-NOT: func.func
// CHECK: func.func private @own_[[$C:[0-9a-f]+]](
// CHECK-LABEL: qd.grid.kernel @l
// CHECK: launch 0 @first_step_[[$A]] {{.*}} {qd.phase = "first step"}
// CHECK: launch 1 @own_[[$C]] {{.*}} {qd.phase = "own"}
module {
  func.func private @k_0(%a: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    memref.store %x, %a[%i] : memref<?xi32>
    return
  }
  func.func private @k_1(%a: memref<?xi32>) attributes {qd.threads = 128 : i64, qd.wave = 32 : i64} {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    memref.store %x, %a[%i] : memref<?xi32>
    return
  }
  qd.grid.kernel @k(%p: memref<?xi32>, %g: index) {
    qd.grid.launch 0 @k_0 blocks(%g) args(%p : memref<?xi32>) {qd.phase = "first step"}
    qd.grid.launch 1 @k_1 blocks(%g) args(%p : memref<?xi32>) after [0] {qd.phase = "first step"}
  }
  // Other names, and another place.
  func.func private @l_0(%other: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %thread = qd.simt.block.thread_id
    %it = memref.load %other[%thread] : memref<?xi32>
    memref.store %it, %other[%thread] : memref<?xi32>
    return
  }
  func.func private @own(%a: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    return
  }
  qd.grid.kernel @l(%p: memref<?xi32>, %g: index) {
    qd.grid.launch 0 @l_0 blocks(%g) args(%p : memref<?xi32>) {qd.phase = "first step"}
    qd.grid.launch 1 @own blocks(%g) args(%p : memref<?xi32>)
  }
}

// -----

// What a body calls is part of what it does.
// CHECK: func.func private @it_[[$ONE:[0-9a-f]+]](
// CHECK: launch 0 @it_[[$ONE]]
module {
  func.func private @f() {
    return
  }
  func.func private @k_0(%n: index) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    call @f() : () -> ()
    return
  }
  qd.grid.kernel @k(%g: index) {
    qd.grid.launch 0 @k_0 blocks(%g) args(%g : index) {qd.phase = "it"}
  }
}

// -----

// CHECK-NOT: @it_[[$ONE]]
// CHECK: func.func private @it_
module {
  func.func private @f() {
    qd.simt.sync
    return
  }
  func.func private @k_0(%n: index) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    call @f() : () -> ()
    return
  }
  qd.grid.kernel @k(%g: index) {
    qd.grid.launch 0 @k_0 blocks(%g) args(%g : index) {qd.phase = "it"}
  }
}
