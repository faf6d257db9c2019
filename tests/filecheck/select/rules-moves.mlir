// The rules of values that lanes read from one another: what each leads to, and what its guard forbids.

// RUN: qd-opt %s --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: qd-opt %s --qd-select-lowering=target=amdgpu:gfx1100,wave=32 | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: qd-opt %s --qd-select-lowering='target=nvptx:sm_90 explain=true' -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// A lane's number with no bit flipped is its own.
// CHECK-LABEL: func.func private @xor_of_nothing(
// CHECK-SAME:    rules = ["xor-of-nothing"]
// CHECK:         %[[X:.*]] = memref.load
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         memref.store %[[X]]
func.func private @xor_of_nothing(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %none = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %r = qd.simt.shuffle xor %x, %none : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Two moves by constants are one.
// CHECK-LABEL: func.func private @xor_of_xor(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[MASK:.*]] = arith.constant 6 : i32
// CHECK:         qd.simt.shuffle xor %[[X]], %[[MASK]] {{.*}}qd.why = ["xor-of-xor"]} : f32
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         return
func.func private @xor_of_xor(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xf32>
  %a = qd.simt.shuffle xor %x, %two : f32
  %r = qd.simt.shuffle xor %a, %four : f32
  memref.store %r, %out[%t] : memref<?xf32>
  return
}

// By a mask of each lane's own they are two: the lane that is read has another one.
// CHECK-LABEL: func.func private @no_xor_of_xor(
// CHECK-NOT:     "xor-of-xor"
// CHECK-COUNT-2: qd.simt.shuffle xor
// CHECK:         return
func.func private @no_xor_of_xor(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %mask = arith.andi %x, %one : i32
  %a = qd.simt.shuffle xor %x, %mask : i32
  %r = qd.simt.shuffle xor %a, %two : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// A lane's number with bits flipped is a shuffle by xor, which is DPP on AMD's targets.
// CHECK-LABEL: func.func private @idx_is_xor(
// CHECK:         qd.simt.shuffle xor %{{.*}}, %c3_i32 {{.*}}qd.why = ["idx-is-xor"]} : i32
func.func private @idx_is_xor(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %three = arith.constant 3 : i32
  %lane = qd.simt.lane_id
  %other = arith.xori %lane, %three : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %r = qd.simt.shuffle idx %x, %other : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Where all lanes read the same one, it is a broadcast. To NVIDIA's targets both are one instruction, and nothing changes.
// CHECK-LABEL: func.func private @idx_is_broadcast(
// CHECK-SAME:    %[[LANE:[a-z0-9]+]]: i32)
// AMD-NOT:       qd.simt.shuffle
// AMD:           qd.simt.broadcast %{{.*}}, %[[LANE]] {{.*}}qd.why = ["idx-is-broadcast"]} : i32
// NVIDIA:        qd.simt.shuffle idx
func.func private @idx_is_broadcast(%in: memref<?xi32>, %out: memref<?xi32>, %lane: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %r = qd.simt.shuffle idx %x, %lane : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// What is the same in all lanes is read from none, whichever lane it is.
// CHECK-LABEL: func.func private @idx_of_uniform(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i32)
// CHECK-SAME:    rules = ["idx-of-uniform"]
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         memref.store %[[U]]
func.func private @idx_of_uniform(%lanes: memref<?xi32>, %out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %i = memref.load %lanes[%t] : memref<?xi32>
  %r = qd.simt.shuffle idx %u, %i : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// CHECK-LABEL: func.func private @xor_of_uniform(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i32)
// CHECK-SAME:    rules = ["xor-of-uniform"]
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         memref.store %[[U]]
func.func private @xor_of_uniform(%masks: memref<?xi32>, %out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %i = memref.load %masks[%t] : memref<?xi32>
  %r = qd.simt.shuffle xor %u, %i : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// EXPLAIN: @broadcast_of_uniform threads 64
// EXPLAIN:   qd.simt.broadcast ({{.*}}) -> v0 by broadcast-of-uniform
// CHECK-LABEL: func.func private @broadcast_of_uniform(
// CHECK-SAME:    rules = ["broadcast-of-uniform"]
// CHECK:         %[[U:.*]] = memref.load
// CHECK-NOT:     qd.simt.broadcast
// CHECK:         memref.store %[[U]]
func.func private @broadcast_of_uniform(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : i32
  %t = qd.simt.block.thread_id
  %u = memref.load %in[%zero] : memref<?xf32>
  %r = qd.simt.broadcast %u, %three : f32
  memref.store %r, %out[%t] : memref<?xf32>
  return
}

// CHECK-LABEL: func.func private @first_of_uniform(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: f32)
// CHECK-SAME:    rules = ["first-of-uniform"]
// CHECK-NOT:     qd.simt.broadcast
// CHECK:         memref.store %[[U]]
func.func private @first_of_uniform(%out: memref<?xf32>, %u: f32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %r = qd.simt.broadcast_first %u : f32
  memref.store %r, %out[%t] : memref<?xf32>
  return
}

// What each lane has of its own is read, and by a lane's number of each one's own no broadcast reads it.
// CHECK-LABEL: func.func private @own_values(
// CHECK-NOT:     {{"(idx-is-broadcast|idx-of-uniform|xor-of-uniform|broadcast-of-uniform|first-of-uniform)"}}
// CHECK:         qd.simt.shuffle idx
// CHECK:         qd.simt.shuffle xor
// CHECK:         qd.simt.broadcast %
// CHECK:         qd.simt.broadcast_first %
// CHECK:         return
func.func private @own_values(%in: memref<?xi32>, %lanes: memref<?xi32>, %out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %i = memref.load %lanes[%t] : memref<?xi32>
  %a = qd.simt.shuffle idx %x, %i : i32
  %b = qd.simt.shuffle xor %x, %u : i32
  %c = qd.simt.broadcast %x, %u : i32
  %d = qd.simt.broadcast_first %x : i32
  %ab = arith.muli %a, %b : i32
  %cd = arith.muli %c, %d : i32
  %r = arith.muli %ab, %cd : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// A move by one mask for all lanes, and one from a lane, are one.
// CHECK-LABEL: func.func private @broadcast_of_xor(
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         qd.simt.broadcast %[[X]], %c3_i32 {{.*}}qd.why = ["broadcast-of-xor"]} : i32
// CHECK:         qd.simt.broadcast %[[X]], %c4_i32 {{.*}}qd.why = ["first-of-xor"]} : i32
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         return
func.func private @broadcast_of_xor(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %four = arith.constant 4 : i32
  %seven = arith.constant 7 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %a = qd.simt.shuffle xor %x, %four : i32
  %b = qd.simt.broadcast %a, %seven : i32
  %c = qd.simt.broadcast_first %a : i32
  %r = arith.addi %b, %c : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// So are that and one from a lane of each one's own.
// CHECK-LABEL: func.func private @idx_of_xor(
// CHECK-SAME:    %[[MASK:[a-z0-9]+]]: i32)
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[I:.*]] = memref.load
// CHECK:         %[[FROM:.*]] = arith.xori %[[I]], %[[MASK]]
// CHECK:         qd.simt.shuffle idx %[[X]], %[[FROM]] {{.*}}qd.why = ["idx-of-xor"]} : i32
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         return
func.func private @idx_of_xor(%in: memref<?xi32>, %lanes: memref<?xi32>, %out: memref<?xi32>, %mask: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %i = memref.load %lanes[%t] : memref<?xi32>
  %a = qd.simt.shuffle xor %x, %mask : i32
  %r = qd.simt.shuffle idx %a, %i : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Of two moves of 64 bits the first becomes one of lanes' numbers.
// CHECK-LABEL: func.func private @idx_of_idx(
// NVIDIA:        %[[FROM:.*]] = qd.simt.shuffle idx %{{.*}} : i32
// NVIDIA:        qd.simt.shuffle idx %{{.*}}, %[[FROM]] {{.*}}qd.why = ["idx-of-idx"]} : i64
// NVIDIA-NOT:    qd.simt.shuffle
// CHECK:         return
func.func private @idx_of_idx(%in: memref<?xi64>, %lanes: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %c31 = arith.constant 31 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi64>
  %l = memref.load %lanes[%t] : memref<?xi32>
  %i = arith.andi %l, %c31 : i32
  %j = arith.xori %i, %c31 : i32
  %a = qd.simt.shuffle idx %x, %i : i64
  %r = qd.simt.shuffle idx %a, %j : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// CHECK-LABEL: func.func private @xor_of_idx(
// NVIDIA:        %[[FROM:.*]] = qd.simt.shuffle xor %{{.*}} : i32
// NVIDIA:        qd.simt.shuffle idx %{{.*}}, %[[FROM]] {{.*}}qd.why = ["xor-of-idx"]} : i64
// NVIDIA-NOT:    qd.simt.shuffle
// CHECK:         return
func.func private @xor_of_idx(%in: memref<?xi64>, %lanes: memref<?xi32>, %out: memref<?xi64>, %mask: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi64>
  %i = memref.load %lanes[%t] : memref<?xi32>
  %a = qd.simt.shuffle idx %x, %i : i64
  %r = qd.simt.shuffle xor %a, %mask : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// By masks of each lane's own, the lane that is read read another one than the reader would.
// CHECK-LABEL: func.func private @own_masks(
// CHECK-NOT:     {{"(broadcast-of-xor|first-of-xor|idx-of-xor|xor-of-idx)"}}
// CHECK:         %[[A:.*]] = qd.simt.shuffle xor
// CHECK:         qd.simt.broadcast %[[A]]
// CHECK:         %[[B:.*]] = qd.simt.shuffle xor
// CHECK:         qd.simt.broadcast_first %[[B]]
// CHECK:         %[[C:.*]] = qd.simt.shuffle xor
// CHECK:         qd.simt.shuffle idx %[[C]]
// CHECK:         %[[D:.*]] = qd.simt.shuffle idx
// CHECK:         qd.simt.shuffle xor %[[D]]
// CHECK:         return
func.func private @own_masks(%in: memref<?xi64>, %masks: memref<?xi32>, %out: memref<?xi64>, %u: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %mask = memref.load %masks[%t] : memref<?xi32>
  %x = memref.load %in[%t] : memref<?xi64>
  %y = memref.load %out[%t] : memref<?xi64>
  %a = qd.simt.shuffle xor %x, %mask : i64
  %by_one = qd.simt.broadcast %a, %u : i64
  %b = qd.simt.shuffle xor %y, %mask : i64
  %by_first = qd.simt.broadcast_first %b : i64
  %i = arith.trunci %x : i64 to i32
  %xy = arith.muli %x, %y : i64
  %c = qd.simt.shuffle xor %xy, %mask : i64
  %by_own = qd.simt.shuffle idx %c, %i : i64
  %z = arith.ori %x, %y : i64
  %d = qd.simt.shuffle idx %z, %i : i64
  %by_mask = qd.simt.shuffle xor %d, %mask : i64
  %e = arith.muli %by_one, %by_first : i64
  %f = arith.muli %by_own, %by_mask : i64
  %r = arith.muli %e, %f : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// Lane 0 is the first: what is read of it in two ways is read once.
// CHECK-LABEL: func.func private @lane_zero(
// CHECK-SAME:    rules = ["lane-zero"]
// CHECK:         %[[FIRST:.*]] = qd.simt.broadcast{{.*}} : i32
// CHECK-NOT:     qd.simt.broadcast
// CHECK:         arith.muli %[[FIRST]], %[[FIRST]]
func.func private @lane_zero(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %a = qd.simt.broadcast %x, %zero : i32
  %b = qd.simt.broadcast_first %x : i32
  %r = arith.muli %a, %b : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}
