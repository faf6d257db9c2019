// Every bit operation, at both widths.
// RUN: qd-opt %s | FileCheck %s

// CHECK-LABEL: func.func @bits(
func.func @bits(%i: i32, %l: i64) {
  // CHECK: qd.math.popcnt %arg0 : i32
  %0 = qd.math.popcnt %i : i32
  // CHECK: qd.math.popcnt %arg1 : i64
  %1 = qd.math.popcnt %l : i64
  // CHECK: qd.math.clz %arg0 : i32
  %2 = qd.math.clz %i : i32
  // CHECK: qd.math.clz %arg1 : i64
  %3 = qd.math.clz %l : i64
  // CHECK: qd.math.ffs %arg0 : i32
  %4 = qd.math.ffs %i : i32
  // CHECK: qd.math.ffs %arg1 {note = "kept"} : i64
  %5 = qd.math.ffs %l {note = "kept"} : i64
  return
}

// CHECK-LABEL: func.func @fns(
func.func @fns(%mask: i32, %base: i32, %offset: i32) {
  // CHECK: qd.math.fns %arg0, %arg1, %arg2
  %0 = qd.math.fns %mask, %base, %offset
  // CHECK: qd.math.fns %arg0, %arg1, %arg2 {note = "kept"}
  %1 = qd.math.fns %mask, %base, %offset {note = "kept"}
  return
}

// CHECK-LABEL: func.func @philox(
func.func @philox(%c: i32, %k: i32) -> i32 {
  // CHECK: %{{.*}}, %[[SECOND:.*]], %{{.*}}, %{{.*}} = qd.math.philox %arg0, %arg0, %arg0, %arg0 key %arg1, %arg1 {note = "kept"}
  %r0, %r1, %r2, %r3 = qd.math.philox %c, %c, %c, %c key %k, %k {note = "kept"}
  return %r1 : i32
}
