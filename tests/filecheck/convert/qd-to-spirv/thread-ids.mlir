// Thread, lane and block ids come from built-in variables, each declared once; a block's id from rows of workgroups, since a
// dimension may have no more than 65,535.

// RUN: qd-opt %s --qd-convert-to-spirv | FileCheck %s

// CHECK-DAG: spirv.GlobalVariable @__qd_SubgroupLocalInvocationId built_in("SubgroupLocalInvocationId") : !spirv.ptr<i32, Input>
// CHECK-DAG: spirv.GlobalVariable @__qd_SubgroupId built_in("SubgroupId") : !spirv.ptr<i32, Input>
// CHECK-DAG: spirv.GlobalVariable @__qd_WorkgroupId built_in("WorkgroupId") : !spirv.ptr<vector<3xi32>, Input>
// CHECK-DAG: spirv.GlobalVariable @__qd_NumSubgroups built_in("NumSubgroups") : !spirv.ptr<i32, Input>
// CHECK-NOT: built_in
module {

// CHECK-LABEL: func.func @who(
// CHECK:         %[[LANE_AT:.*]] = spirv.mlir.addressof @__qd_SubgroupLocalInvocationId
// CHECK:         spirv.Load "Input" %[[LANE_AT]] : i32
// CHECK:         spirv.mlir.addressof @__qd_SubgroupId
// CHECK:         spirv.mlir.addressof @__qd_NumSubgroups
// Threads are numbered by subgroups and lanes.
// CHECK:         %[[SUBGROUP:.*]] = spirv.Load "Input" %__qd_SubgroupId_addr{{.*}} : i32
// CHECK:         %[[FIRST:.*]] = arith.muli %[[SUBGROUP]], %c16_i32{{.*}} : i32
// CHECK:         %[[LANE:.*]] = spirv.Load "Input" %__qd_SubgroupLocalInvocationId_addr{{.*}} : i32
// CHECK:         %[[THREAD:.*]] = arith.addi %[[FIRST]], %[[LANE]] : i32
// CHECK:         arith.extui %[[THREAD]] : i32 to i64
// CHECK:         %[[ID:.*]] = spirv.Load "Input" %__qd_WorkgroupId_addr{{.*}} : vector<3xi32>
// CHECK:         %[[X:.*]] = spirv.CompositeExtract %[[ID]][0 : i32]
// CHECK:         %[[XW:.*]] = arith.extui %[[X]] : i32 to i64
// CHECK:         %[[Y:.*]] = spirv.CompositeExtract %[[ID]][1 : i32]
// CHECK:         %[[YW:.*]] = arith.extui %[[Y]] : i32 to i64
// CHECK:         %[[ROWS:.*]] = arith.muli %[[YW]], %c65535_i64{{.*}} : i64
// CHECK:         arith.addi %[[XW]], %[[ROWS]] : i64
// CHECK:         %[[N:.*]] = spirv.Load "Input" %__qd_NumSubgroups_addr{{.*}} : i32
// CHECK:         arith.muli %[[N]], %c16_i32{{.*}} : i32
func.func private @who() attributes {qd.threads = 64 : i64, qd.wave = 16 : i64} {
  %0 = qd.simt.lane_id
  %1 = qd.simt.subgroup_id
  %2 = qd.simt.num_subgroups
  %3 = qd.simt.block.thread_id
  %4 = qd.simt.block.id
  %5 = qd.simt.block.dim
  return
}
}
