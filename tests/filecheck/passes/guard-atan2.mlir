// Upstream's folder sees no two zeros; without the pass it makes a NaN of them.

// RUN: qd-opt %s --qd-guard-atan2 | FileCheck %s
// RUN: qd-opt %s --qd-guard-atan2 --canonicalize | FileCheck %s --check-prefix=FOLDED
// RUN: qd-opt %s --canonicalize | FileCheck %s --check-prefix=UNGUARDED

// CHECK-LABEL: func.func @any
// CHECK-SAME:    (%[[Y:.*]]: f32, %[[X:.*]]: f32)
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1.0{{.*}} : f32
// CHECK-DAG:     %[[NO_Y:.*]] = arith.cmpf oeq, %[[Y]], %{{.*}} : f32
// CHECK-DAG:     %[[NO_X:.*]] = arith.cmpf oeq, %[[X]], %{{.*}} : f32
// CHECK:         %[[NEITHER:.*]] = arith.andi %[[NO_Y]], %[[NO_X]] : i1
// CHECK:         %[[UNIT:.*]] = math.copysign %[[ONE]], %[[X]] : f32
// CHECK-NEXT:    %[[X1:.*]] = arith.select %[[NEITHER]], %[[UNIT]], %[[X]] : f32
// CHECK-NEXT:    %[[R:.*]] = math.atan2 %[[Y]], %[[X1]] : f32
// CHECK-NEXT:    return %[[R]]
func.func @any(%y: f32, %x: f32) -> f32 {
  %r = math.atan2 %y, %x : f32
  return %r : f32
}

// A program's own choice between a number with a sign and another one is no guard.
// FOLDED-LABEL: func.func @chosen
// FOLDED:         %[[R:.*]] = arith.constant 0.0{{.*}} : f32
// FOLDED-NEXT:    return %[[R]]
func.func @chosen(%m: f32) -> f32 {
  %false = arith.constant false
  %zero = arith.constant 0.0 : f32
  %signed = math.copysign %m, %zero : f32
  %x = arith.select %false, %signed, %zero : f32
  %r = math.atan2 %zero, %x : f32
  return %r : f32
}

// FOLDED-LABEL: func.func @zeros
// FOLDED:         %[[R:.*]] = arith.constant 3.14{{[0-9]*}} : f32
// FOLDED-NEXT:    return %[[R]]
// UNGUARDED-LABEL: func.func @zeros
// UNGUARDED:        %[[R:.*]] = arith.constant 0x7FC00000 : f32
// UNGUARDED-NEXT:   return %[[R]]
func.func @zeros() -> f32 {
  %y = arith.constant 0.0 : f32
  %x = arith.constant -0.0 : f32
  %r = math.atan2 %y, %x : f32
  return %r : f32
}
