// Moves between lanes are shuffles of whole warps, votes are votes, and all lanes are members, under uniform branches as well.

// RUN: qd-opt %s --qd-convert-to-nvvm=arch=sm_90 | FileCheck %s

module {

// CHECK-LABEL: llvm.func @words(
// CHECK:         %[[V:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK:         %[[LANE:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK:         nvvm.shfl.sync idx %c-1_i32{{.*}}, %[[V]], %[[LANE]], %c31_i32{{.*}} : f32 -> f32
// A lane keeps its own where there is none so far, by the instruction if that is less than 32.
// CHECK:         %[[DOWN:.*]] = nvvm.shfl.sync down %c-1_i32{{.*}}, %[[V]], %[[LANE]], %c31_i32{{.*}} : f32 -> f32
// CHECK:         %[[IS_NEAR:.*]] = arith.cmpi ult, %[[LANE]], %c32_i32{{.*}} : i32
// CHECK-NEXT:    arith.select %[[IS_NEAR]], %[[DOWN]], %[[V]] : f32
// CHECK:         nvvm.shfl.sync bfly %c-1_i32{{.*}}, %[[V]], %[[LANE]], %c31_i32{{.*}} : f32 -> f32
// CHECK:         nvvm.shfl.sync up %c-1_i32{{.*}}, %[[V]], %c31_i32{{.*}}, %c0_i32{{.*}} : f32 -> f32
// CHECK-NOT:     arith.select
// CHECK:         nvvm.shfl.sync idx %c-1_i32{{.*}}, %[[V]], %[[LANE]], %c31_i32{{.*}} : f32 -> f32
func.func private @words(%v: f32, %lane: i32, %o: memref<?xf32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c0 = arith.constant 0 : index
  %0 = qd.simt.shuffle idx %v, %lane : f32
  %1 = qd.simt.shuffle down %v, %lane : f32
  %2 = qd.simt.shuffle xor %v, %lane : f32
  %c31 = arith.constant 31 : i32
  %3 = qd.simt.shuffle up %v, %c31 : f32
  %4 = qd.simt.broadcast %v, %lane : f32
  memref.store %4, %o[%c0] : memref<?xf32>
  return
}

// 64 bits go as two halves.
// CHECK-LABEL: llvm.func @halves(
// CHECK:         %[[W:.*]] = arith.bitcast %{{.*}} : f64 to i64
// CHECK:         %[[LOW:.*]] = arith.trunci %[[W]] : i64 to i32
// CHECK:         %[[L:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[LOW]], %{{.*}} : i32 -> i32
// CHECK:         %[[UP:.*]] = arith.shrui %[[W]], %c32
// CHECK:         %[[HIGH:.*]] = arith.trunci %[[UP]] : i64 to i32
// CHECK:         %[[H:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[HIGH]], %{{.*}} : i32 -> i32
// CHECK:         %[[HH:.*]] = arith.extui %[[H]] : i32 to i64
// CHECK:         %[[S:.*]] = arith.shli %[[HH]], %c32
// CHECK:         %[[LL:.*]] = arith.extui %[[L]] : i32 to i64
// CHECK:         %[[R:.*]] = arith.ori %[[S]], %[[LL]] : i64
// CHECK:         arith.bitcast %[[R]] : i64 to f64
func.func private @halves(%v: f64, %lane: i32, %o: memref<?xf64>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c0 = arith.constant 0 : index
  %0 = qd.simt.shuffle xor %v, %lane : f64
  memref.store %0, %o[%c0] : memref<?xf64>
  return
}

// CHECK-LABEL: llvm.func @votes(
// CHECK:         %[[P:.*]] = arith.cmpi
// CHECK:         scf.if
// CHECK:           %[[ALL:.*]] = nvvm.vote.sync ballot %c-1_i32{{.*}}, %[[P]] -> i32
// CHECK:           arith.cmpi eq, %[[ALL]], %c-1_i32
// CHECK:           %[[ANY:.*]] = nvvm.vote.sync ballot %c-1_i32{{.*}}, %[[P]] -> i32
// CHECK:           arith.cmpi ne, %[[ANY]], %c0_i32
// CHECK:           %[[B:.*]] = nvvm.vote.sync ballot %c-1_i32{{.*}}, %[[P]] -> i32
// CHECK:           arith.extui %[[B]] : i32 to i64
// CHECK:           %[[M:.*]] = nvvm.match.sync any %c-1_i32{{.*}}, %{{.*}} : i64 -> i32
// CHECK:           arith.extui %[[M]] : i32 to i64
func.func private @votes(%x: i32, %y: i64, %uniform: i1, %o: memref<?xi64>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c0 = arith.constant 0 : index
  %lane = qd.simt.lane_id
  %p = arith.cmpi ult, %lane, %x : i32
  scf.if %uniform {
    %0 = qd.simt.all %p tile(5)
    %1 = qd.simt.any %p
    %2 = qd.simt.ballot %p
    %3 = qd.simt.match_any %y : i64
    %4 = arith.addi %2, %3 : i64
    memref.store %4, %o[%c0] : memref<?xi64>
  }
  return
}

// A ballot a bit where they are few. What is multiplied with is −1.
// CHECK-LABEL: llvm.func @matches_of_some_bits(
// CHECK:         %[[LT:.*]] = nvvm.read.ptx.sreg.lanemask.lt
// CHECK:         %[[GE:.*]] = nvvm.read.ptx.sreg.lanemask.ge
// CHECK:         %[[ONES:.*]] = arith.ori %[[LT]], %[[GE]]
// CHECK:         llvm.inline_asm has_side_effects "{{.*}}lop3.b32 d, $1, $2, $2, 0xc3; and.b32 bit, d, 1; setp.ne.b32 p, bit, 0; vote.sync.ballot.b32 b0, p, -1; @!p mad.lo.s32 b0, b0, $2, $2; and.b32 bit, d, 2;{{.*}}lop3.b32 b0, b0, b1, b2, 0x80; and.b32 b0, b0, b3; mov.b32 $0, b0; }", "=r,r,r" %{{.*}}, %[[ONES]]
// CHECK-NOT:     nvvm.match
// Of many, one match of what is left when the others are shifted out.
// CHECK:         %[[HIGH:.*]] = arith.shli %{{.*}}, %c12_i32
// CHECK:         nvvm.match.sync any %c-1_i32{{.*}}, %[[HIGH]] : i32 -> i32
func.func private @matches_of_some_bits(%x: i32, %o: memref<?xi64>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c0 = arith.constant 0 : index
  %0 = qd.simt.match_any %x bits(4) : i32
  %1 = qd.simt.match_any %x bits(20) : i32
  %2 = arith.addi %0, %1 : i64
  memref.store %2, %o[%c0] : memref<?xi64>
  return
}

// CHECK-LABEL: llvm.func @reductions(
// CHECK:         nvvm.redux.sync add %[[V:.*]], %c-1_i32{{.*}} : i32 -> i32
// CHECK:         nvvm.redux.sync umin %[[V]], %c-1_i32{{.*}} : i32 -> i32
// CHECK:         nvvm.redux.sync max %[[V]], %c-1_i32{{.*}} : i32 -> i32
func.func private @reductions(%v: i32, %o: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c0 = arith.constant 0 : index
  %0 = qd.simt.reduce add %v tile(5) : i32
  %1 = qd.simt.reduce_all minui %v tile(5) : i32
  %2 = qd.simt.reduce_all maxsi %v : i32
  memref.store %2, %o[%c0] : memref<?xi32>
  return
}
}
