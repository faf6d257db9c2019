// Moves between lanes, votes, and reductions and scans of an integer: one instruction each.

// RUN: qd-opt %s --qd-convert-to-spirv | FileCheck %s

module {

// CHECK-LABEL: func.func @moves(
// CHECK:         spirv.GroupNonUniformShuffle <Subgroup> %[[V:.*]], %[[LANE:.*]] : f32, i32
// A lane keeps its own where there is none so far.
// CHECK:         %[[DOWN:.*]] = spirv.GroupNonUniformShuffleDown <Subgroup> %[[V]], %[[LANE]] : f32, i32
// CHECK:         %[[IS_THERE:.*]] = arith.cmpi ult, %[[LANE]], %{{.*}} : i32
// CHECK-NEXT:    arith.select %[[IS_THERE]], %[[DOWN]], %[[V]] : f32
// CHECK:         spirv.GroupNonUniformShuffleXor <Subgroup> %[[V]], %[[LANE]] : f32, i32
// CHECK:         spirv.GroupNonUniformShuffleUp <Subgroup> %{{.*}}, %[[LANE]] : f64, i32
// CHECK-NOT:     arith.select
// The dialect takes a broadcast from a constant lane alone.
// CHECK:         spirv.GroupNonUniformShuffle <Subgroup> %{{.*}}, %[[LANE]] : i64, i32
// CHECK:         %[[ZERO:.*]] = spirv.Constant 0 : i32
// CHECK-NEXT:    spirv.GroupNonUniformBroadcast <Subgroup> %{{.*}}, %[[ZERO]] : i64, i32
func.func private @moves(%v: f32, %w: f64, %x: i64, %lane: i32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = qd.simt.shuffle idx %v, %lane : f32
  %1 = qd.simt.shuffle down %v, %lane : f32
  %2 = qd.simt.shuffle xor %v, %lane : f32
  %3 = qd.simt.shuffle up %w, %lane in_range : f64
  %4 = qd.simt.broadcast %x, %lane : i64
  %5 = qd.simt.broadcast_first %x : i64
  return
}

// One word of a ballot is all that 8 lanes have.
// CHECK-LABEL: func.func @votes(
// CHECK:         spirv.GroupNonUniformAll <Subgroup> %[[P:.*]] : i1
// CHECK:         spirv.GroupNonUniformAny <Subgroup> %[[P]] : i1
// CHECK:         %[[B:.*]] = spirv.GroupNonUniformBallot <Subgroup> %[[P]] : vector<4xi32>
// CHECK-NEXT:    %[[LOW:.*]] = spirv.CompositeExtract %[[B]][0 : i32] : vector<4xi32>
// CHECK-NEXT:    arith.extui %[[LOW]] : i32 to i64
// CHECK-NEXT:    return
func.func private @votes(%p: i1) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = qd.simt.all %p tile(3)
  %1 = qd.simt.any %p
  %2 = qd.simt.ballot %p
  return
}

// CHECK-LABEL: func.func @integers(
// CHECK:         spirv.GroupNonUniformIAdd <Subgroup> <Reduce> %[[V:.*]] : i32 -> i32
// CHECK:         spirv.GroupNonUniformUMin <Subgroup> <Reduce> %[[V]] : i32 -> i32
// CHECK:         spirv.GroupNonUniformSMax <Subgroup> <InclusiveScan> %[[V]] : i32 -> i32
// CHECK:         spirv.GroupNonUniformBitwiseXor <Subgroup> <ExclusiveScan> %{{.*}} : i64 -> i64
// CHECK:         spirv.GroupNonUniformIMul <Subgroup> <Reduce> %[[V]] : i32 -> i32
// CHECK:         %[[TWO:.*]] = spirv.Constant 2 : i32
// CHECK-NEXT:    spirv.GroupNonUniformSMin <Subgroup> <ClusteredReduce> %[[V]] cluster_size(%[[TWO]]) : i32, i32 -> i32
func.func private @integers(%v: i32, %w: i64) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %0 = qd.simt.reduce add %v tile(3) : i32
  %1 = qd.simt.reduce_all minui %v : i32
  %2 = qd.simt.inclusive_scan maxsi %v tile(3) : i32
  %3 = qd.simt.exclusive_scan xor %w tile(3) : i64
  %4 = qd.simt.reduce_all mul %v tile(3) : i32
  %5 = qd.simt.reduce minsi %v tile(1) : i32
  return
}
}
