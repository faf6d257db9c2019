// Bit operations of constants, by their contract: i32 whatever the operand's width, ffs counts from 1, fns finds nothing as -1.
// RUN: qd-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @popcnt(
func.func @popcnt() -> (i32, i32, i32) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ALL:.*]] = arith.constant 32 : i32
  // CHECK-DAG: %[[WIDE:.*]] = arith.constant 33 : i32
  // CHECK: return %[[ZERO]], %[[ALL]], %[[WIDE]]
  %zero = arith.constant 0 : i32
  %ones = arith.constant -1 : i32
  %wide = arith.constant 8589934591 : i64
  %0 = qd.math.popcnt %zero : i32
  %1 = qd.math.popcnt %ones : i32
  %2 = qd.math.popcnt %wide : i64
  return %0, %1, %2 : i32, i32, i32
}

// CHECK-LABEL: func.func @clz(
func.func @clz() -> (i32, i32, i32, i32) {
  // CHECK-DAG: %[[I32:.*]] = arith.constant 32 : i32
  // CHECK-DAG: %[[I64:.*]] = arith.constant 64 : i32
  // CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: return %[[I32]], %[[I64]], %[[NONE]], %[[ONE]]
  %zero = arith.constant 0 : i32
  %wide_zero = arith.constant 0 : i64
  %ones = arith.constant -1 : i32
  %largest = arith.constant 0x7FFFFFFF : i32
  %0 = qd.math.clz %zero : i32
  %1 = qd.math.clz %wide_zero : i64
  %2 = qd.math.clz %ones : i32
  %3 = qd.math.clz %largest : i32
  return %0, %1, %2, %3 : i32, i32, i32, i32
}

// CHECK-LABEL: func.func @ffs(
func.func @ffs() -> (i32, i32, i32, i32) {
  // CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[FIRST:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[LAST:.*]] = arith.constant 32 : i32
  // CHECK-DAG: %[[WIDE:.*]] = arith.constant 64 : i32
  // CHECK: return %[[NONE]], %[[FIRST]], %[[LAST]], %[[WIDE]]
  %zero = arith.constant 0 : i32
  %minus_one = arith.constant -1 : i32
  %sign = arith.constant 0x80000000 : i32
  %wide_sign = arith.constant 0x8000000000000000 : i64
  %0 = qd.math.ffs %zero : i32
  %1 = qd.math.ffs %minus_one : i32
  %2 = qd.math.ffs %sign : i32
  %3 = qd.math.ffs %wide_sign : i64
  return %0, %1, %2, %3 : i32, i32, i32, i32
}

// The mask 0b10110010 has bits 1, 4, 5 and 7 set.
// CHECK-LABEL: func.func @fns(
func.func @fns() -> (i32, i32, i32, i32, i32, i32, i32, i32) {
  // CHECK-DAG: %[[B4:.*]] = arith.constant 4 : i32
  // CHECK-DAG: %[[B5:.*]] = arith.constant 5 : i32
  // CHECK-DAG: %[[B1:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[NONE:.*]] = arith.constant -1 : i32
  // CHECK: return %[[B4]], %[[B5]], %[[NONE]], %[[B4]], %[[B1]], %[[NONE]], %[[B4]], %[[NONE]]
  %mask = arith.constant 0xB2 : i32
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c1 = arith.constant 1 : i32
  %m1 = arith.constant -1 : i32
  %m2 = arith.constant -2 : i32
  %m3 = arith.constant -3 : i32
  // Upwards, the base included.
  %0 = qd.math.fns %mask, %c2, %c1
  %1 = qd.math.fns %mask, %c4, %c2
  %2 = qd.math.fns %mask, %c4, %c4
  // Downwards.
  %3 = qd.math.fns %mask, %c4, %m1
  %4 = qd.math.fns %mask, %c4, %m2
  %5 = qd.math.fns %mask, %c4, %m3
  // Whether the base itself is set.
  %6 = qd.math.fns %mask, %c4, %c0
  %7 = qd.math.fns %mask, %c3, %c0
  return %0, %1, %2, %3, %4, %5, %6, %7 : i32, i32, i32, i32, i32, i32, i32, i32
}

// A smallest offset has no absolute value in 32 bits.
// CHECK-LABEL: func.func @fns_extreme(
func.func @fns_extreme() -> i32 {
  // CHECK: %[[NONE:.*]] = arith.constant -1 : i32
  // CHECK: return %[[NONE]]
  %mask = arith.constant -1 : i32
  %base = arith.constant 31 : i32
  %offset = arith.constant 0x80000000 : i32
  %0 = qd.math.fns %mask, %base, %offset
  return %0 : i32
}

// A base beyond the mask is undefined, and left for the interpreter to report.
// CHECK-LABEL: func.func @fns_base_undefined(
func.func @fns_base_undefined() -> i32 {
  // CHECK: qd.math.fns
  %mask = arith.constant -1 : i32
  %base = arith.constant 32 : i32
  %offset = arith.constant 1 : i32
  %0 = qd.math.fns %mask, %base, %offset
  return %0 : i32
}

// CHECK-LABEL: func.func @unknown(
func.func @unknown(%x: i64, %mask: i32, %one: i32) -> (i32, i32, i32, i32) {
  // CHECK-NEXT: qd.math.popcnt %arg0
  // CHECK-NEXT: qd.math.clz %arg0
  // CHECK-NEXT: qd.math.ffs %arg0
  // CHECK-NEXT: qd.math.fns %arg1, %arg2, %arg2
  %0 = qd.math.popcnt %x : i64
  %1 = qd.math.clz %x : i64
  %2 = qd.math.ffs %x : i64
  %3 = qd.math.fns %mask, %one, %one
  return %0, %1, %2, %3 : i32, i32, i32, i32
}
