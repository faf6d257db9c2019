// Calls are inlined, callees first; shared arrays go to the top of the phase; all functions but outlined bodies are removed.
// A module without functions stays as it is.

// RUN: qd-opt %s --split-input-file --qd-inline-functions | FileCheck %s
// RUN: qd-opt %s --split-input-file --qd-inline-functions --mlir-print-debuginfo | FileCheck %s --check-prefix=PLACE

// CHECK-NOT: func.func
// CHECK-LABEL: qd.grid.kernel @calls
// CHECK:         qd.grid.phase
// CHECK-NEXT:      %[[T:.*]] = qd.simt.block.thread_id
// CHECK-NEXT:      %[[X:.*]] = memref.load
// CHECK-NEXT:      %[[TWO:.*]] = arith.addf %[[X]], %[[X]]
// CHECK-NEXT:      %[[FOUR:.*]] = arith.addf %[[TWO]], %[[TWO]]
// CHECK-NEXT:      %[[ALL:.*]] = qd.simt.reduce_all add %[[FOUR]]
// CHECK-NEXT:      memref.store %[[TWO]]
// CHECK-NEXT:      memref.store %[[ALL]]

// Both the place in the function and that of the call.
// PLACE-LABEL: qd.grid.kernel @calls
// PLACE:         qd.simt.reduce_all add {{.*}} loc(#[[AT:.*]])
// PLACE:       #[[IN:.*]] = loc("{{.*}}inline-functions.mlir":[[#]]:[[#]])
// PLACE:       #[[AT]] = loc(callsite(#{{.*}} at #{{.*}}))
func.func @scaled(%x: f32) -> (f32, f32) {
  %two = func.call @twice(%x) : (f32) -> f32
  %four = func.call @twice(%two) : (f32) -> f32
  %all = qd.simt.reduce_all add %four : f32
  return %two, %all : f32, f32
}
func.func private @twice(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}
func.func private @declared_and_unused(f32) -> f32
func.func private @calls_what_is_declared(%x: f32) -> f32 {
  %y = func.call @declared_and_unused(%x) : (f32) -> f32
  return %y : f32
}
qd.grid.kernel @calls(%a: memref<?xf32>, %b: memref<?xf32>, %g: index) {
  qd.grid.phase blocks(%g) threads(64) {
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xf32>
    %two, %all = func.call @scaled(%x) : (f32) -> (f32, f32)
    memref.store %two, %a[%t] : memref<?xf32>
    memref.store %all, %b[%t] : memref<?xf32>
  }
}

// -----

// CHECK-LABEL: qd.grid.kernel @array
// CHECK-NEXT:    qd.grid.phase
// CHECK-NEXT:      %[[P:.*]] = arith.constant true
// CHECK-NEXT:      %[[S:.*]] = qd.simt.block.shared
// CHECK-NEXT:      scf.if %[[P]]
// CHECK-NEXT:        %[[T:.*]] = qd.simt.block.thread_id
// CHECK-NEXT:        memref.store %{{.*}}, %[[S]][%[[T]]]
func.func private @keep(%x: i32) {
  %s = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
  %t = qd.simt.block.thread_id
  memref.store %x, %s[%t] : memref<64xi32, #gpu.address_space<workgroup>>
  return
}
qd.grid.kernel @array(%x: i32, %g: index) {
  qd.grid.phase blocks(%g) threads(64) {
    %p = arith.constant true
    scf.if %p {
      func.call @keep(%x) : (i32) -> ()
    }
  }
}

// -----

// A body is a function too, and stays; what it calls goes into it.
// CHECK-LABEL: func.func private @body
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    return
// CHECK-NOT:   func.func
func.func private @body(%x: i32) attributes {qd.threads = 64 : i64} {
  %0 = func.call @add(%x) : (i32) -> i32
  return
}
func.func private @add(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  return %0 : i32
}
qd.grid.kernel @launches(%x: i32, %g: index) {
  qd.grid.launch 0 @body blocks(%g) args(%x : i32)
}

// -----

// CHECK-LABEL: qd.grid.kernel @none
// CHECK-NEXT:    qd.grid.phase
// CHECK-NEXT:      arith.addi
qd.grid.kernel @none(%x: i32, %g: index) {
  qd.grid.phase blocks(%g) threads(64) {
    %0 = arith.addi %x, %x : i32
  }
}
