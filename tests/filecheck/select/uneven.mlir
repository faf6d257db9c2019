// Blocks that do not fill subgroups of each size: those that they fill are searched; a body whose usual size is not among
// them is left alone, and what reads by its subgroups has the same size.

// RUN: qd-opt %s --qd-select-lowering=target=amdgpu:gfx1100 | FileCheck %s
// RUN: qd-opt %s --qd-select-lowering='target=amdgpu:gfx1100 explain' 2>&1 >/dev/null | FileCheck %s --check-prefix=EXPLAIN

// EXPLAIN:     @three_times_32
// EXPLAIN:     64 not: a block of 96 threads does not fill its last subgroup
// EXPLAIN:     @hundred threads 100, group {{[0-9]+}}: wave 32{{$}}
// EXPLAIN-NEXT:  Left as it is: its threads do not fill their last subgroup

// CHECK-LABEL: func.func private @three_times_32
// CHECK-SAME:    qd.wave = 32
// CHECK:         qd.simt.reduce_all add
// CHECK-NOT:     qd.simt.broadcast
func.func private @three_times_32(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 96 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %s = qd.simt.reduce add %v : i32
  %b = qd.simt.broadcast_first %s : i32
  memref.store %b, %out[%t] : memref<?xi32>
  return
}

// CHECK-LABEL: func.func private @hundred
// CHECK-SAME:    qd.wave = 32
// CHECK:         qd.simt.broadcast_first
// CHECK:         qd.simt.subgroup_id
func.func private @hundred(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 100 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %s = qd.simt.reduce add %v : i32
  %b = qd.simt.broadcast_first %s : i32
  %id = qd.simt.subgroup_id
  %sum = arith.addi %b, %id : i32
  memref.store %sum, %out[%t] : memref<?xi32>
  return
}

// Alone, 64 is better.
// CHECK-LABEL: func.func private @reads
// CHECK-SAME:    qd.wave = 32
func.func private @reads(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  memref.store %v, %out[%t] : memref<?xi32>
  return
}
// CHECK-LABEL: func.func private @alone
// CHECK-SAME:    qd.wave = 64
func.func private @alone(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  memref.store %v, %out[%t] : memref<?xi32>
  return
}

qd.grid.kernel @k(%n: index, %a: memref<?xi32>, %b: memref<?xi32>, %c: memref<?xi32>) {
  qd.grid.launch 0 @three_times_32 blocks(%n) args(%a, %b : memref<?xi32>, memref<?xi32>)
  qd.grid.launch 1 @alone blocks(%n) args(%a, %c : memref<?xi32>, memref<?xi32>)
}
qd.grid.kernel @masks(%n: index, %a: memref<?xi32>, %b: memref<?xi32>, %c: memref<?xi32>) {
  qd.grid.launch 0 @hundred blocks(%n) args(%a, %b : memref<?xi32>, memref<?xi32>)
  qd.grid.launch 1 @reads blocks(%n) args(%b, %c : memref<?xi32>, memref<?xi32>) after [0]
}
