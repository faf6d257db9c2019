// A mask of a lane's own number is made in 32 bits where subgroups have no more lanes, of the relations
// whose high half is 0.

// RUN: qd-opt %s --qd-expand-collectives=target=amdgpu:gfx1100 | FileCheck %s

// CHECK-LABEL: func.func private @own_of_32
// CHECK:         %[[LANE:.*]] = qd.simt.lane_id
// CHECK:         %[[OWN:.*]] = arith.shli %{{.*}}, %[[LANE]] : i32
// CHECK:         %[[BELOW:.*]] = arith.subi %[[OWN]], %{{.*}} : i32
// CHECK:         arith.extui %[[BELOW]] : i32 to i64
// CHECK-NOT:     : i64
// CHECK:         return
func.func private @own_of_32() -> i64 attributes {qd.wave = 32 : i64} {
  %lane = qd.simt.lane_id
  %mask = qd.simt.lanemask lt %lane : i64
  return %mask : i64
}

// CHECK-LABEL: func.func private @own_of_64
// CHECK:         %[[LANE:.*]] = qd.simt.lane_id
// CHECK:         %[[WIDE:.*]] = arith.extui %[[LANE]] : i32 to i64
// CHECK:         arith.shli %{{.*}}, %[[WIDE]] : i64
func.func private @own_of_64() -> i64 attributes {qd.wave = 64 : i64} {
  %lane = qd.simt.lane_id
  %mask = qd.simt.lanemask lt %lane : i64
  return %mask : i64
}

// Another lane's number may be 32 or more.
// CHECK-LABEL: func.func private @given
// CHECK:         arith.shli %{{.*}}, %{{.*}} : i64
func.func private @given(%lane: i32) -> i64 attributes {qd.wave = 32 : i64} {
  %mask = qd.simt.lanemask lt %lane : i64
  return %mask : i64
}

// Bits above the lane are those of the high half, too.
// CHECK-LABEL: func.func private @above
// CHECK:         arith.shli %{{.*}}, %{{.*}} : i64
func.func private @above() -> i64 attributes {qd.wave = 32 : i64} {
  %lane = qd.simt.lane_id
  %mask = qd.simt.lanemask gt %lane : i64
  return %mask : i64
}
