// Blocks whose last subgroup is filled in part are rounded up; the threads that are added do nothing that can be seen.

// RUN: qd-opt %s --qd-fill-subgroups | FileCheck %s

// Loads and stores are in branches; a reduction gets neutral values, a ballot no bits.
// CHECK-LABEL: func.func private @part(
// CHECK-SAME: qd.threads = 64 : i64
func.func private @part(%a: memref<?xf32>, %o: memref<?xi64>) attributes {qd.threads = 40 : i64, qd.wave = 32 : i64} {
  // CHECK: %[[THERE:.*]] = arith.cmpi ult, %{{.*}}, %c40 : index
  // CHECK: %[[THREAD:.*]] = qd.simt.block.thread_id
  %thread = qd.simt.block.thread_id
  // CHECK: %[[V:.*]] = scf.if %[[THERE]] -> (f32) {
  // CHECK-NEXT: memref.load
  // CHECK-NEXT: scf.yield
  // CHECK-NEXT: } else {
  // CHECK: scf.yield %{{.*}} : f32
  %v = memref.load %a[%thread] : memref<?xf32>
  // The sum of -0 stays what it is.
  // CHECK: %[[NEUTRAL:.*]] = arith.constant -0.000000e+00 : f32
  // CHECK: %[[OWN:.*]] = arith.select %[[THERE]], %[[V]], %[[NEUTRAL]] : f32
  // CHECK: qd.simt.reduce_all add %[[OWN]] tile(5) : f32
  %sum = qd.simt.reduce_all add %v tile(5) : f32
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[P:.*]] = arith.cmpf ogt
  %p = arith.cmpf ogt, %v, %sum : f32
  // CHECK: %[[BOTH:.*]] = arith.andi %[[P]], %[[THERE]] : i1
  // CHECK: %[[MASK:.*]] = qd.simt.ballot %[[BOTH]]
  %mask = qd.simt.ballot %p
  // CHECK: scf.if %[[THERE]] {
  // CHECK-NEXT: memref.store %[[MASK]]
  memref.store %mask, %o[%thread] : memref<?xi64>
  return
}

// A lane that would read one that is absent keeps its own value.
// CHECK-LABEL: func.func private @few(
// CHECK-SAME: qd.threads = 32 : i64
func.func private @few(%a: memref<?xi32>) attributes {qd.threads = 5 : i64, qd.wave = 32 : i64} {
  // CHECK: %[[PRESENT:.*]] = arith.constant 5 : i32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : i32
  %lane = qd.simt.lane_id
  // CHECK: %[[SOURCE:.*]] = arith.xori %{{.*}}, %{{.*}} : i32
  // CHECK: %[[READ:.*]] = qd.simt.shuffle xor %[[LANE:.*]], %c2_i32 : i32
  // CHECK: %[[IS:.*]] = arith.cmpi ult, %[[SOURCE]], %[[PRESENT]] : i32
  // CHECK: arith.select %[[IS]], %[[READ]], %[[LANE]] : i32
  %other = qd.simt.shuffle xor %lane, %c2 : i32
  %first = qd.simt.elect
  scf.if %first {
    memref.store %other, %a[%c0] : memref<?xi32>
  }
  return
}

// Control flow with collectives in it is that of lane 0.
// CHECK-LABEL: func.func private @control(
func.func private @control(%a: memref<?xi32>, %n: memref<i32>) attributes {qd.threads = 5 : i64, qd.wave = 4 : i64} {
  %thread = qd.simt.block.thread_id
  %c0 = arith.constant 0 : i32
  // CHECK: %[[LOADED:.*]]:2 = scf.if
  // CHECK-NEXT: memref.load
  %count = memref.load %n[] : memref<i32>
  // CHECK-NEXT: arith.cmpi sgt
  %more = arith.cmpi sgt, %count, %c0 : i32
  // CHECK: %[[WIDE:.*]] = arith.extui %[[LOADED]]#1 : i1 to i32
  // CHECK: %[[FIRST:.*]] = qd.simt.broadcast_first %[[WIDE]] {qd.same_in_block} : i32
  // CHECK: %[[GO:.*]] = arith.cmpi ne, %[[FIRST]]
  // CHECK: scf.if %[[GO]] {
  scf.if %more {
    %all = qd.simt.reduce_all add %count tile(2) : i32
    memref.store %all, %a[%thread] : memref<?xi32>
  }
  return
}

// Full subgroups stay as they are.
// CHECK-LABEL: func.func private @full(
// CHECK-SAME: qd.threads = 96 : i64
func.func private @full(%a: memref<?xi32>) attributes {qd.threads = 96 : i64, qd.wave = 32 : i64} {
  // CHECK-NEXT: %[[THREAD:.*]] = qd.simt.block.thread_id
  // CHECK-NEXT: memref.load %{{.*}}[%[[THREAD]]]
  %thread = qd.simt.block.thread_id
  %v = memref.load %a[%thread] : memref<?xi32>
  %sum = qd.simt.reduce_all add %v tile(5) : i32
  memref.store %sum, %a[%thread] : memref<?xi32>
  return
}
