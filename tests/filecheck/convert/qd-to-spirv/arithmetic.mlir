// Conversions that upstream lacks, or does with other semantics than the reference. The conformance tests check
// the values.

// RUN: qd-opt %s --qd-convert-to-spirv | FileCheck %s

module {

// Vulkan counts bits of 32 alone, the highest by itself; the highest and the lowest bit of 0 are numbered -1.
// CHECK-LABEL: func.func @bits(
// CHECK:         %[[O:.*]] = arith.ori %[[W:.*]], %c-2147483648_i32{{.*}} : i32
// CHECK:         %[[C:.*]] = spirv.BitCount %[[O]] : i32
// CHECK:         %[[B:.*]] = arith.subi %[[C]], %c1_i32{{.*}} : i32
// CHECK:         %[[A:.*]] = arith.shrui %[[W]], %c31_i32{{.*}} : i32
// CHECK:         arith.addi %[[B]], %[[A]] : i32
// CHECK:         %[[H:.*]] = spirv.GL.FindUMsb %[[W]] : i32
// CHECK:         arith.subi %c31_i32{{.*}}, %[[H]] : i32
// CHECK:         %[[L:.*]] = spirv.GL.FindILsb %[[W]] : i32
// CHECK:         spirv.GL.UMin %[[L]], %c32_i32{{.*}} : i32
// CHECK:         %[[LOW:.*]] = arith.trunci %[[D:.*]] : i64 to i32
// CHECK:         %[[UP:.*]] = arith.shrui %[[D]], %c32_i64
// CHECK:         %[[HIGH:.*]] = arith.trunci %[[UP]] : i64 to i32
// CHECK:         spirv.BitCount
// CHECK:         %[[N:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK:         spirv.BitCount
// CHECK:         %[[M:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK:         arith.addi %[[N]], %[[M]] : i32
func.func private @bits(%w: i32, %d: i64) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = math.ctpop %w : i32
  %1 = math.ctlz %w : i32
  %2 = math.cttz %w : i32
  %3 = math.ctpop %d : i64
  return
}

// The lowest bit is extracted, from words, whichever way it is asked for; others are as they are.
// CHECK-LABEL: func.func @lowest(
// CHECK:         spirv.BitFieldUExtract %[[W:.*]], %{{.*}}, %{{.*}} : i32, i32, i32
// CHECK:         %[[LOW:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK:         %[[REST:.*]] = spirv.BitFieldUExtract %[[LOW]], %{{.*}}, %{{.*}} : i32, i32, i32
// CHECK:         arith.extui %[[REST]] : i32 to i64
// CHECK:         spirv.BitFieldUExtract %[[W]], %{{.*}}, %{{.*}} : i32, i32, i32
// CHECK-NOT:     spirv.BitFieldUExtract
// CHECK:         arith.andi %[[W]], %c3_i32{{.*}} : i32
// CHECK-NOT:     spirv.BitFieldUExtract
// CHECK:         return
func.func private @lowest(%w: i32, %i: index) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : i32
  %0 = arith.andi %w, %c1 : i32
  %1 = arith.remui %i, %c2 : index
  %c30 = arith.constant 30 : i32
  %c31 = arith.constant 31 : i32
  %up = arith.shli %w, %c31 : i32
  %2 = arith.shrui %up, %c31 : i32
  %two = arith.shli %w, %c30 : i32
  %3 = arith.shrui %two, %c30 : i32
  %4 = arith.andi %w, %c3 : i32
  return
}

// Of narrow integers 24 leading zeros are not theirs, and at most 8 trailing ones are.
// CHECK-LABEL: func.func @narrow(
// CHECK:         %[[H:.*]] = spirv.GL.FindUMsb
// CHECK:         %[[Z:.*]] = arith.subi %c31_i32{{.*}}, %[[H]]
// CHECK:         arith.subi %[[Z]], %c24_i32
// CHECK:         %[[L:.*]] = spirv.GL.FindILsb
// CHECK:         %[[T:.*]] = spirv.GL.UMin %[[L]], %c32_i32
// CHECK:         spirv.GL.UMin %[[T]], %c8_i32
func.func private @narrow(%w: i32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %b = arith.trunci %w : i32 to i8
  %0 = math.ctlz %b : i8
  %1 = math.cttz %b : i8
  return
}

// Minima and maxima of words, among them of an index, are an instruction; of what is narrower they are left to upstream.
// CHECK-LABEL: func.func @minima(
// CHECK:         spirv.GL.SMin %[[W:.*]], %[[W]] : i32
// CHECK:         spirv.GL.SMax %[[D:.*]], %[[D]] : i64
// CHECK:         spirv.GL.UMin %[[I:.*]], %[[I]] : i64
// CHECK:         spirv.GL.UMax %[[W]], %[[W]] : i32
// CHECK:         arith.minsi %{{.*}} : i16
func.func private @minima(%w: i32, %d: i64, %i: index) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %h = arith.trunci %w : i32 to i16
  %0 = arith.minsi %w, %w : i32
  %1 = arith.maxsi %d, %d : i64
  %2 = arith.minui %i, %i : index
  %3 = arith.maxui %w, %w : i32
  %4 = arith.minsi %h, %h : i16
  return
}

// NaNs and signed zeros are told apart by bits.
// CHECK-LABEL: func.func @classes(
// CHECK:         %[[B:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK:         %[[M:.*]] = arith.andi %[[B]], %c2147483647_i32{{.*}} : i32
// CHECK:         arith.cmpi ugt, %[[M]], %c2139095040_i32{{.*}} : i32
// CHECK:         arith.cmpi ult, %{{.*}}, %c2139095040_i32{{.*}} : i32
// CHECK:         arith.cmpi eq, %{{.*}}, %c2139095040_i32{{.*}} : i32
// CHECK-NOT:     arith.minnumf
// CHECK-NOT:     arith.cmpf uno
func.func private @classes(%x: f32, %y: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = math.isnan %x : f32
  %1 = math.isfinite %x : f32
  %2 = math.isinf %x : f32
  %3 = arith.minnumf %x, %y : f32
  %4 = arith.cmpf uno, %x, %y : f32
  return
}

// CHECK-LABEL: func.func @rounded(
// CHECK:         %[[M:.*]] = math.absf %[[X:.*]] : f64
// CHECK:         %[[S:.*]] = arith.addf %[[M]], %[[LARGE:.*]] : f64
// CHECK:         %[[D:.*]] = arith.subf %[[S]], %[[LARGE]] : f64
// CHECK:         math.copysign %[[D]], %[[X]] : f64
func.func private @rounded(%x: f64) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = math.roundeven %x : f64
  return
}

// Fused in f64, where the product is exact, and rounded once.
// CHECK-LABEL: func.func @fused(
// CHECK:         arith.extf %{{.*}} : f32 to f64
// CHECK:         arith.mulf %{{.*}} : f64
// CHECK-NOT:     math.fma
// CHECK:         arith.truncf %{{.*}} : f64 to f32
func.func private @fused(%x: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = math.fma %x, %x, %x : f32
  return
}

// Nothing rests on its being fused.
// CHECK-LABEL: func.func @in_two_steps(
// CHECK:         %[[P:.*]] = arith.mulf %[[X:.*]], %[[X]] : f64
// CHECK-NEXT:    arith.addf %[[P]], %[[X]] : f64
func.func private @in_two_steps(%x: f64) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = math.fma %x, %x, %x fastmath<contract> : f64
  return
}

// CHECK-LABEL: func.func @truths(
// CHECK:         %[[P:.*]] = arith.extsi %{{.*}} : i1 to i32
// CHECK:         %[[Q:.*]] = arith.extsi %{{.*}} : i1 to i32
// CHECK:         %[[S:.*]] = arith.addi %[[P]], %[[Q]] : i32
// CHECK:         arith.trunci %[[S]] : i32 to i1
// CHECK:         arith.cmpi slt, %{{.*}}, %{{.*}} : i32
func.func private @truths(%p: i1, %q: i1) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = arith.addi %p, %q : i1
  %1 = arith.cmpi slt, %p, %q : i1
  return
}

// CHECK-LABEL: func.func @indices(
// CHECK:         arith.addi %{{.*}} : i64
// CHECK:         arith.cmpi ult, %{{.*}} : i64
// CHECK:         arith.constant 64 : i64
func.func private @indices(%i: index) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = index.add %i, %i
  %1 = index.cmp ult(%i, %0)
  %2 = index.sizeof
  return
}

// A switch is a search.
// CHECK-LABEL: func.func @switch(
// CHECK:         arith.cmpi slt, %[[I:.*]], %c5_i64{{.*}} : i64
// CHECK:         scf.if
// CHECK:           arith.cmpi eq, %[[I]], %c2_i64
// CHECK:         else
// CHECK:           arith.cmpi eq, %[[I]], %c5_i64
// CHECK-NOT:     scf.index_switch
func.func private @switch(%i: index, %o: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %r = scf.index_switch %i -> i32
  case 5 {
    %c1 = arith.constant 1 : i32
    scf.yield %c1 : i32
  }
  case 2 {
    %c2 = arith.constant 2 : i32
    scf.yield %c2 : i32
  }
  default {
    %c3 = arith.constant 3 : i32
    scf.yield %c3 : i32
  }
  memref.store %r, %o[%i] : memref<?xi32>
  return
}
}
