// A reduction whose result is broadcast from lane 0 goes to every lane instead.
// RUN: my-opt %s --my-broadcast-reduced | FileCheck %s

// CHECK-LABEL: func.func @kind(
func.func @kind(%v: f32) -> f32 {
  // CHECK: %[[SUM:.*]] = qd.simt.reduce_all add %arg0 : f32
  // CHECK-NOT: qd.simt.reduce add
  %sum = qd.simt.reduce add %v : f32
  %all = qd.simt.broadcast_first %sum : f32
  return %all : f32
}

// The combiner goes along, and so does every other use.
// CHECK-LABEL: func.func @region(
func.func @region(%v: f32, %i: i32) -> (f32, i32) {
  // CHECK: %[[R:.*]]:2 = qd.simt.reduce_all %arg0, %arg1 : f32, i32 identity [0.000000e+00 : f32, 7 : i32] combiner {
  // CHECK: arith.addf
  // CHECK: qd.yield
  // CHECK: qd.simt.broadcast_first %[[R]]#0
  // CHECK: return %{{.*}}, %[[R]]#1
  %r:2 = qd.simt.reduce %v, %i : f32, i32 identity [0.0 : f32, 7 : i32] combiner {
  ^bb0(%la: f32, %lb: i32, %ra: f32, %rb: i32):
    %x = arith.addf %la, %ra : f32
    qd.yield %x, %rb : f32, i32
  }
  %all = qd.simt.broadcast_first %r#0 : f32
  return %all, %r#1 : f32, i32
}

// Only lane 0 uses the result.
// CHECK-LABEL: func.func @not_broadcast(
func.func @not_broadcast(%v: f32, %lane: i32) -> f32 {
  // CHECK: qd.simt.reduce add
  %sum = qd.simt.reduce add %v : f32
  %other = qd.simt.shuffle up %sum, %lane : f32
  return %other : f32
}

// The first lane's tile is not everyone's.
// CHECK-LABEL: func.func @tiled(
func.func @tiled(%v: f32) -> f32 {
  // CHECK: qd.simt.reduce add %arg0 tile(3)
  // CHECK: qd.simt.broadcast_first
  %sum = qd.simt.reduce add %v tile(3) : f32
  %all = qd.simt.broadcast_first %sum : f32
  return %all : f32
}
