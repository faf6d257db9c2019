// A ballot of 64 lanes fills two words.

// RUN: qd-opt %s --qd-convert-to-spirv | FileCheck %s

module {
// CHECK-LABEL: func.func @two_words(
// CHECK:         %[[B:.*]] = spirv.GroupNonUniformBallot
// CHECK:         %[[LOW:.*]] = spirv.CompositeExtract %[[B]][0 : i32]
// CHECK:         %[[LW:.*]] = arith.extui %[[LOW]] : i32 to i64
// CHECK:         %[[HIGH:.*]] = spirv.CompositeExtract %[[B]][1 : i32]
// CHECK:         %[[HW:.*]] = arith.extui %[[HIGH]] : i32 to i64
// CHECK:         %[[SHIFTED:.*]] = arith.shli %[[HW]], %c32_i64
// CHECK:         arith.ori %[[LW]], %[[SHIFTED]] : i64
func.func private @two_words(%p: i1) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %0 = qd.simt.ballot %p
  return
}
}
