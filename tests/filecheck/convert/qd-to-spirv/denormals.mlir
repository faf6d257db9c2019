// A device may flush denormals: results that must not depend on that are computed on integers. The conformance tests
// check the values.

// RUN: qd-opt %s --qd-convert-to-spirv | FileCheck %s

module {

// Zeros of both signs are the same.
// CHECK-LABEL: func.func @equal(
// CHECK:         %[[X:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK:         %[[Y:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[X]], %[[Y]] : i32
// CHECK:         %[[ANY:.*]] = arith.ori %[[X]], %[[Y]] : i32
// CHECK:         %[[REST:.*]] = arith.shli %[[ANY]], %c1_i32{{.*}} : i32
// CHECK:         %[[ZEROS:.*]] = arith.cmpi eq, %[[REST]], %c0_i32{{.*}} : i32
// CHECK:         arith.ori %[[SAME]], %[[ZEROS]] : i1
// CHECK-NOT:     arith.cmpf
func.func private @equal(%x: f32, %y: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = arith.cmpf oeq, %x, %y : f32
  return
}

// Negative numbers are turned round; a NaN is on one side of all numbers.
// CHECK-LABEL: func.func @less(
// CHECK:         %[[TURNED:.*]] = arith.subi %c-9223372036854775808_i64{{.*}}, %[[BITS:.*]] : i64
// CHECK:         %[[X:.*]] = arith.select %{{.*}}, %[[TURNED]], %[[BITS]] : i64
// CHECK:         %[[Y:.*]] = arith.select
// CHECK:         arith.cmpi slt, %[[X]], %[[Y]] : i64
// CHECK:         arith.cmpi sle, %c-9218868437227405312_i64{{.*}}, %[[X]] : i64
// CHECK:         arith.cmpi sle, %[[Y]], %c9218868437227405312_i64{{.*}} : i64
// CHECK-NOT:     arith.cmpf
func.func private @less(%x: f64, %y: f64) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = arith.cmpf olt, %x, %y : f64
  return
}

// A denormal and zero are on the same side of most constants, but not of zero or of another denormal.
// CHECK-LABEL: func.func @constants(
// CHECK:         arith.cmpf olt, %{{.*}}, %[[HALF:.*]] : f32
// CHECK:         arith.cmpf ult, %[[HALF]], %{{.*}} : f32
// CHECK-NOT:     arith.cmpf
func.func private @constants(%x: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %half = arith.constant -0.5 : f32
  %zero = arith.constant 0.0 : f32
  %denormal = arith.constant 1.0e-42 : f32
  %0 = arith.cmpf olt, %x, %half : f32
  %1 = arith.cmpf ult, %half, %x : f32
  %2 = arith.cmpf olt, %x, %zero : f32
  %3 = arith.cmpf olt, %denormal, %x : f32
  return
}

// Floats of 16 bits are the device's, where SPIR-V has the predicate.
// CHECK-LABEL: func.func @halves(
// CHECK:         arith.cmpf olt, %{{.*}} : f16
// CHECK-NOT:     arith.cmpf uno
// CHECK:         arith.negf %{{.*}} : f16
// CHECK:         arith.extf %{{.*}} : f16 to f32
// CHECK-NOT:     arith.sitofp
func.func private @halves(%x: f16, %y: f16) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = arith.cmpf olt, %x, %y : f16
  %1 = arith.cmpf uno, %x, %y : f16
  %2 = arith.negf %x : f16
  %3 = arith.extf %x : f16 to f32
  return
}

// Denormals are counted in the smallest.
// CHECK-LABEL: func.func @widened(
// CHECK:         %[[C:.*]] = arith.extf %{{.*}} : f32 to f64
// CHECK:         %[[N:.*]] = arith.sitofp %{{.*}} : i32 to f64
// CHECK:         %[[S:.*]] = arith.mulf %[[N]], %{{.*}} : f64
// CHECK:         %[[D:.*]] = arith.cmpi ult, %{{.*}}, %c8388607_i32{{.*}} : i32
// CHECK:         arith.select %[[D]], %[[S]], %[[C]] : f64
func.func private @widened(%x: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = arith.extf %x : f32 to f64
  return
}

// CHECK-LABEL: func.func @narrowed(
// CHECK:         %[[C:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK:         arith.mulf
// CHECK:         arith.addf
// CHECK:         %[[D:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK:         arith.select %{{.*}}, %[[D]], %[[C]] : f32
// Rounded otherwise it is SPIR-V's.
// CHECK:         arith.truncf %{{.*}} toward_zero : f64 to f32
// CHECK-NEXT:    return
func.func private @narrowed(%x: f64) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = arith.truncf %x : f64 to f32
  %1 = arith.truncf %x toward_zero : f64 to f32
  return
}

// CHECK-LABEL: func.func @signs(
// CHECK:         arith.xori %{{.*}}, %c-2147483648_i32{{.*}} : i32
// CHECK:         arith.andi %{{.*}}, %c2147483647_i32{{.*}} : i32
// CHECK-NOT:     arith.negf
// CHECK-NOT:     math.absf
func.func private @signs(%x: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = arith.negf %x : f32
  %1 = math.absf %x : f32
  return
}

// Below the least denormal is -1. A device may lose the sign of a zero.
// CHECK-LABEL: func.func @whole(
// CHECK:         %[[W:.*]] = math.floor %[[X:.*]] : f32
// CHECK:         %[[F:.*]] = math.copysign %[[W]], %[[X]] : f32
// CHECK:         %[[I:.*]] = arith.subi %{{.*}}, %c-2147483647_i32{{.*}} : i32
// CHECK:         %[[D:.*]] = arith.cmpi ult, %[[I]], %c8388607_i32{{.*}} : i32
// CHECK:         arith.select %[[D]], %{{.*}}, %[[F]] : f32
func.func private @whole(%x: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = math.floor %x : f32
  return
}
}
