// Each body gets the size that suits it; bodies that share a layout get one, and `qd.wave` stays.

// RUN: qd-opt %s --qd-select-lowering=target=amdgpu:gfx1100 | FileCheck %s
// RUN: qd-opt %s --qd-select-lowering='target=amdgpu:gfx1100 wave=32' | FileCheck %s --check-prefix=FORCED
// RUN: qd-opt %s --qd-select-lowering=target=amdgpu:gfx1100 | qd-opt --qd-select-lowering=target=amdgpu:gfx1100 | FileCheck %s

// FORCED-COUNT-6: qd.wave = 32
// FORCED-NOT:     qd.wave = 64

// Bound by latency: twice the lanes wait at the same time.
// CHECK-LABEL: func.func private @alone
// CHECK-SAME:    qd.wave = 64
func.func private @alone(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  memref.store %v, %out[%t] : memref<?xi32>
  return
}

// In 64 lanes some would not reach the sum.
// CHECK-LABEL: func.func private @narrow
// CHECK-SAME:    qd.wave = 32
func.func private @narrow(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %half = arith.constant 32 : index
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %first = arith.cmpi ult, %t, %half : index
  scf.if %first {
    %sum = qd.simt.reduce_all add %v : i32
    memref.store %sum, %out[%t] : memref<?xi32>
  }
  return
}

// CHECK-LABEL: func.func private @pinned
// CHECK-SAME:    qd.wave = 32
// CHECK:         qd.simt.ballot
func.func private @pinned(%in: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 256 : i64, qd.wave = 32 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %mask = qd.simt.ballot %p
  memref.store %mask, %out[%t] : memref<?xi64>
  return
}

// A number of the subgroup is written, passed on, and read: three bodies, of which the last
// can only have 32 lanes.
// CHECK-LABEL: func.func private @writes
// CHECK-SAME:    qd.wave = 32
func.func private @writes(%out: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %t = qd.simt.block.thread_id
  %id = qd.simt.subgroup_id
  memref.store %id, %out[%t] : memref<?xi32>
  return
}
// CHECK-LABEL: func.func private @passes_on
// CHECK-SAME:    qd.wave = 32
func.func private @passes_on(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  memref.store %v, %out[%t] : memref<?xi32>
  return
}
// CHECK-LABEL: func.func private @reads
// CHECK-SAME:    qd.wave = 32
func.func private @reads(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %half = arith.constant 32 : index
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %first = arith.cmpi ult, %t, %half : index
  scf.if %first {
    %sum = qd.simt.reduce_all add %v : i32
    memref.store %sum, %out[%t] : memref<?xi32>
  }
  return
}

qd.grid.kernel @k(%n: index, %a: memref<?xi32>, %b: memref<?xi32>, %c: memref<?xi32>, %masks: memref<?xi64>) {
  qd.grid.launch 0 @writes blocks(%n) args(%a : memref<?xi32>)
  qd.grid.launch 1 @passes_on blocks(%n) args(%a, %b : memref<?xi32>, memref<?xi32>) after [0]
  qd.grid.launch 2 @reads blocks(%n) args(%b, %c : memref<?xi32>, memref<?xi32>) after [1]
}
qd.grid.kernel @others(%n: index, %a: memref<?xi32>, %b: memref<?xi32>, %c: memref<?xi32>, %masks: memref<?xi64>) {
  qd.grid.launch 0 @alone blocks(%n) args(%a, %b : memref<?xi32>, memref<?xi32>)
  qd.grid.launch 1 @narrow blocks(%n) args(%a, %c : memref<?xi32>, memref<?xi32>)
  qd.grid.launch 2 @pinned blocks(%n) args(%a, %masks : memref<?xi32>, memref<?xi64>)
}
