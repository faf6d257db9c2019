// Folders and canonical forms of the subgroup and block ops, and where they must not fire.
// RUN: qd-opt %s --canonicalize | FileCheck %s

//===----------------------------------------------------------------------===//
// Folders: moves
//===----------------------------------------------------------------------===//

// At distance 0 each lane reads itself.
// CHECK-LABEL: func.func @shuffle_by_zero(
func.func @shuffle_by_zero(%v: f32) -> (f32, f32, f32) {
  // CHECK-NEXT: return %arg0, %arg0, %arg0
  %c0 = arith.constant 0 : i32
  %0 = qd.simt.shuffle up %v, %c0 : f32
  %1 = qd.simt.shuffle down %v, %c0 : f32
  %2 = qd.simt.shuffle xor %v, %c0 : f32
  return %0, %1, %2 : f32, f32, f32
}

// CHECK-LABEL: func.func @shuffle_from_itself(
func.func @shuffle_from_itself(%v: f32) -> f32 {
  // CHECK-NEXT: return %arg0
  %lane = qd.simt.lane_id
  %0 = qd.simt.shuffle idx %v, %lane : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @shuffle_from_others(
func.func @shuffle_from_others(%v: f32, %any: i32) -> (f32, f32, f32) {
  // CHECK: qd.simt.shuffle idx %arg0, %arg1
  // CHECK: qd.simt.shuffle xor %arg0, %{{.*}}
  // CHECK: qd.simt.shuffle up %arg0, %{{.*}}
  %c1 = arith.constant 1 : i32
  %lane = qd.simt.lane_id
  %0 = qd.simt.shuffle idx %v, %any : f32
  %1 = qd.simt.shuffle xor %v, %c1 : f32
  %2 = qd.simt.shuffle up %v, %lane : f32
  return %0, %1, %2 : f32, f32, f32
}

// CHECK-LABEL: func.func @rotate(
func.func @rotate(%v: f32, %delta: i32) -> (f32, f32, f32) {
  // CHECK-NEXT: %[[R:.*]] = qd.simt.rotate %arg0, %arg1 tile(1)
  // CHECK-NEXT: return %arg0, %arg0, %[[R]]
  %c0 = arith.constant 0 : i32
  %0 = qd.simt.rotate %v, %c0 tile(4) : f32
  %1 = qd.simt.rotate %v, %delta tile(0) : f32
  %2 = qd.simt.rotate %v, %delta tile(1) : f32
  return %0, %1, %2 : f32, f32, f32
}

//===----------------------------------------------------------------------===//
// Folders: votes and masks
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @votes(
func.func @votes(%p: i1) -> (i1, i1, i1, i1, i1) {
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG: %[[FALSE:.*]] = arith.constant false
  // CHECK-DAG: %[[ALL:.*]] = qd.simt.all %arg0
  // CHECK: return %[[TRUE]], %[[FALSE]], %[[TRUE]], %arg0, %[[ALL]]
  %true = arith.constant true
  %false = arith.constant false
  %0 = qd.simt.all %true
  %1 = qd.simt.any %false tile(3)
  %2 = qd.simt.any %true
  %3 = qd.simt.any %p tile(0)
  %4 = qd.simt.all %p
  return %0, %1, %2, %3, %4 : i1, i1, i1, i1, i1
}

// A NaN equals nothing, itself included: a float that is not known may be one.
// CHECK-LABEL: func.func @all_equal(
func.func @all_equal(%i: i32, %f: f32) -> (i1, i1, i1, i1, i1) {
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG: %[[FALSE:.*]] = arith.constant false
  // CHECK-DAG: %[[LONE:.*]] = qd.simt.all_equal %arg1 tile(0)
  // CHECK: return %[[TRUE]], %[[TRUE]], %[[FALSE]], %[[TRUE]], %[[LONE]]
  %seven = arith.constant 7 : i64
  %one = arith.constant 1.0 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %0 = qd.simt.all_equal %seven : i64
  %1 = qd.simt.all_equal %one : f32
  %2 = qd.simt.all_equal %nan : f32
  %3 = qd.simt.all_equal %i tile(0) : i32
  %4 = qd.simt.all_equal %f tile(0) : f32
  return %0, %1, %2, %3, %4 : i1, i1, i1, i1, i1
}

// Of no lanes the mask is empty. Of all lanes it depends on how many there are.
// CHECK-LABEL: func.func @ballots(
func.func @ballots() -> (i64, i32, i64) {
  // CHECK-DAG: %[[WIDE:.*]] = arith.constant 0 : i64
  // CHECK-DAG: %[[NARROW:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ALL:.*]] = qd.simt.ballot %true
  // CHECK: return %[[WIDE]], %[[NARROW]], %[[ALL]]
  %true = arith.constant true
  %false = arith.constant false
  %0 = qd.simt.ballot %false
  %1 = qd.simt.ballot_first_n 7 %false
  %2 = qd.simt.ballot %true
  return %0, %1, %2 : i64, i32, i64
}

// CHECK-LABEL: func.func @lanemask(
func.func @lanemask() -> (i32, i32, i32, i32, i32) {
  // CHECK-DAG: %[[LT:.*]] = arith.constant 31 : i32
  // CHECK-DAG: %[[LE:.*]] = arith.constant 63 : i32
  // CHECK-DAG: %[[EQ:.*]] = arith.constant 32 : i32
  // CHECK-DAG: %[[GT:.*]] = arith.constant -64 : i32
  // CHECK-DAG: %[[GE:.*]] = arith.constant -32 : i32
  // CHECK: return %[[LT]], %[[LE]], %[[EQ]], %[[GT]], %[[GE]]
  %c5 = arith.constant 5 : i32
  %0 = qd.simt.lanemask lt %c5 : i32
  %1 = qd.simt.lanemask le %c5 : i32
  %2 = qd.simt.lanemask eq %c5 : i32
  %3 = qd.simt.lanemask gt %c5 : i32
  %4 = qd.simt.lanemask ge %c5 : i32
  return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i32
}

// The top lane, of 32 and of 64; one beyond it is undefined and stays.
// CHECK-LABEL: func.func @lanemask_top(
func.func @lanemask_top() -> (i32, i64, i64, i32) {
  // CHECK-DAG: %[[LT:.*]] = arith.constant 2147483647 : i32
  // CHECK-DAG: %[[LE:.*]] = arith.constant -1 : i64
  // CHECK-DAG: %[[GT:.*]] = arith.constant 0 : i64
  // CHECK-DAG: %[[OUT:.*]] = qd.simt.lanemask lt
  // CHECK: return %[[LT]], %[[LE]], %[[GT]], %[[OUT]]
  %c31 = arith.constant 31 : i32
  %c63 = arith.constant 63 : i32
  %c32 = arith.constant 32 : i32
  %0 = qd.simt.lanemask lt %c31 : i32
  %1 = qd.simt.lanemask le %c63 : i64
  %2 = qd.simt.lanemask gt %c63 : i64
  %3 = qd.simt.lanemask lt %c32 : i32
  return %0, %1, %2, %3 : i32, i64, i64, i32
}

//===----------------------------------------------------------------------===//
// Folders: tiles of one lane
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @one_lane(
func.func @one_lane(%v: f32, %head: i1) -> (f32, f32, f32, f32) {
  // CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0
  %0 = qd.simt.reduce add %v tile(0) : f32
  %1 = qd.simt.reduce_all mul %v tile(0) : f32
  %2 = qd.simt.inclusive_scan minnumf %v tile(0) : f32
  %3 = qd.simt.segmented_reduce add %v heads %head tile(0) : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// CHECK-LABEL: func.func @one_lane_region(
func.func @one_lane_region(%v: f32, %w: i32) -> (f32, i32) {
  // CHECK-NEXT: return %arg0, %arg1
  %0:2 = qd.simt.reduce_all %v, %w tile(0) : f32, i32 identity [0.0 : f32, 0 : i32] combiner {
  ^bb0(%la: f32, %lb: i32, %ra: f32, %rb: i32):
    qd.yield %ra, %lb : f32, i32
  }
  return %0#0, %0#1 : f32, i32
}

// CHECK-LABEL: func.func @one_lane_exclusive(
func.func @one_lane_exclusive(%i: i32, %f: f32) -> (i32, i32, f32, f32, i32) {
  // CHECK-DAG: %[[SUM:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[MIN:.*]] = arith.constant 2147483647 : i32
  // CHECK-DAG: %[[MAX:.*]] = arith.constant 0xFF800000 : f32
  // CHECK-DAG: %[[A:.*]] = arith.constant 2.500000e+00 : f32
  // CHECK-DAG: %[[B:.*]] = arith.constant 9 : i32
  // CHECK: return %[[SUM]], %[[MIN]], %[[MAX]], %[[A]], %[[B]]
  %0 = qd.simt.exclusive_scan add %i tile(0) : i32
  %1 = qd.simt.exclusive_scan minsi %i tile(0) : i32
  %2 = qd.simt.exclusive_scan maxnumf %f tile(0) : f32
  %3:2 = qd.simt.exclusive_scan %f, %i tile(0) : f32, i32 identity [2.5 : f32, 9 : i32] combiner {
  ^bb0(%la: f32, %lb: i32, %ra: f32, %rb: i32):
    qd.yield %ra, %lb : f32, i32
  }
  return %0, %1, %2, %3#0, %3#1 : i32, i32, f32, f32, i32
}

// CHECK-LABEL: func.func @one_lane_sort(
func.func @one_lane_sort(%k: f32, %v: i32) -> (f32, i32, f32, i32) {
  // CHECK-NEXT: %[[K:.*]], %[[V:.*]] = qd.simt.bitonic_sort_kv %arg0, %arg1 tile(1)
  // CHECK-NEXT: return %arg0, %arg1, %[[K]], %[[V]]
  %0, %1 = qd.simt.bitonic_sort_kv %k, %v tile(0) : f32, i32
  %2, %3 = qd.simt.bitonic_sort_kv %k, %v tile(1) : f32, i32
  return %0, %1, %2, %3 : f32, i32, f32, i32
}

//===----------------------------------------------------------------------===//
// Folders: the block's size
//===----------------------------------------------------------------------===//

// CHECK-LABEL: qd.grid.kernel @block_dim(
qd.grid.kernel @block_dim(%a: memref<?xindex>, %blocks: index) {
  // CHECK: %[[THREADS:.*]] = arith.constant 192 : index
  qd.grid.phase blocks(%blocks) threads(192) {
    // CHECK: memref.store %[[THREADS]]
    %d = qd.simt.block.dim
    memref.store %d, %a[%d] : memref<?xindex>
  }
}

// CHECK-LABEL: func.func @block_dim_of_a_body(
func.func @block_dim_of_a_body() -> index attributes {qd.threads = 128 : i64} {
  // CHECK: %[[THREADS:.*]] = arith.constant 128 : index
  // CHECK: return %[[THREADS]]
  %d = qd.simt.block.dim
  return %d : index
}

// CHECK-LABEL: func.func @block_dim_of_any_block(
func.func @block_dim_of_any_block() -> index {
  // CHECK: qd.simt.block.dim
  %d = qd.simt.block.dim
  return %d : index
}

//===----------------------------------------------------------------------===//
// Canonical forms written in Rust: what is the same in every lane
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @moves_of_uniform(
func.func @moves_of_uniform(%lane: i32) -> (f32, i32, i32, i32) {
  // CHECK-DAG: %[[C:.*]] = arith.constant 1.000000e+00 : f32
  // CHECK-DAG: %[[SIZE:.*]] = qd.simt.subgroup_size
  // CHECK-DAG: %[[ID:.*]] = qd.simt.subgroup_id
  // CHECK-DAG: %[[COUNT:.*]] = qd.simt.num_subgroups
  // CHECK-NOT: qd.simt
  // CHECK: return %[[C]], %[[SIZE]], %[[ID]], %[[COUNT]]
  %c = arith.constant 1.0 : f32
  %size = qd.simt.subgroup_size
  %id = qd.simt.subgroup_id
  %count = qd.simt.num_subgroups
  %0 = qd.simt.broadcast %c, %lane : f32
  %1 = qd.simt.broadcast_first %size : i32
  %2 = qd.simt.shuffle xor %id, %lane : i32
  %3 = qd.simt.rotate %count, %lane tile(3) : i32
  return %0, %1, %2, %3 : f32, i32, i32, i32
}

// A launch hands its arguments to every thread, and arithmetic keeps what is alike alike.
// CHECK-LABEL: qd.grid.kernel @uniform_arguments(
qd.grid.kernel @uniform_arguments(%a: memref<?xi32>, %n: index, %x: i32) {
  qd.grid.phase blocks(%n) threads(64) {
    // CHECK: %[[SUM:.*]] = arith.addi
    // CHECK-NOT: broadcast
    // CHECK: memref.store %[[SUM]]
    %c0 = arith.constant 0 : index
    %len = memref.dim %a, %c0 : memref<?xi32>
    %len32 = arith.index_cast %len : index to i32
    %sum = arith.addi %len32, %x : i32
    %first = qd.simt.broadcast_first %sum : i32
    memref.store %first, %a[%c0] : memref<?xi32>
  }
}

// CHECK-LABEL: func.func @moves_of_varying(
func.func @moves_of_varying(%lane: i32, %v: i32) -> (i32, i32, i32, i32) {
  // CHECK: qd.simt.broadcast_first %arg1
  // CHECK: qd.simt.broadcast_first %{{.*}}
  // CHECK: qd.simt.broadcast_first %{{.*}}
  // CHECK: qd.simt.broadcast_first %{{.*}}
  %id = qd.simt.lane_id
  %size = qd.simt.subgroup_size
  %sum = arith.addi %id, %size : i32
  %tile = qd.simt.reduce_all add %v tile(2) : i32
  %0 = qd.simt.broadcast_first %v : i32
  %1 = qd.simt.broadcast_first %id : i32
  %2 = qd.simt.broadcast_first %sum : i32
  %3 = qd.simt.broadcast_first %tile : i32
  return %0, %1, %2, %3 : i32, i32, i32, i32
}

// CHECK-LABEL: func.func @votes_of_uniform(
func.func @votes_of_uniform(%p: i1, %v: i32, %f: f32) -> (i1, i1, i1, i1) {
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG: %[[ALL:.*]] = qd.simt.all %arg0
  // CHECK-DAG: %[[SUM:.*]] = qd.simt.reduce_all add %arg2
  // CHECK-DAG: %[[EQUAL:.*]] = qd.simt.all_equal %[[SUM]]
  // CHECK: return %[[ALL]], %[[ALL]], %[[TRUE]], %[[EQUAL]]
  %all = qd.simt.all %p
  %isum = qd.simt.reduce_all add %v : i32
  %fsum = qd.simt.reduce_all add %f : f32
  %0 = qd.simt.any %all
  %1 = qd.simt.all %all tile(2)
  %2 = qd.simt.all_equal %isum : i32
  // The sum may be NaN.
  %3 = qd.simt.all_equal %fsum : f32
  return %0, %1, %2, %3 : i1, i1, i1, i1
}

// CHECK-LABEL: func.func @idempotent(
func.func @idempotent(%head: i1) -> (i32, i32, i32, f32, i32, i32) {
  // CHECK-DAG: %[[C:.*]] = arith.constant 5 : i32
  // CHECK-DAG: %[[F:.*]] = arith.constant 2.000000e+00 : f32
  // CHECK-DAG: %[[ID:.*]] = qd.simt.subgroup_id
  // CHECK-NOT: qd.simt
  // CHECK: return %[[C]], %[[C]], %[[C]], %[[F]], %[[ID]], %[[C]]
  %c = arith.constant 5 : i32
  %f = arith.constant 2.0 : f32
  %id = qd.simt.subgroup_id
  %0 = qd.simt.reduce minsi %c : i32
  %1 = qd.simt.reduce_all maxui %c tile(3) : i32
  %2 = qd.simt.inclusive_scan and %c : i32
  %3 = qd.simt.reduce_all maxnumf %f : f32
  %4 = qd.simt.reduce_all or %id : i32
  %5 = qd.simt.segmented_reduce minui %c heads %head : i32
  return %0, %1, %2, %3, %4, %5 : i32, i32, i32, f32, i32, i32
}

// A sum is not its terms; an exclusive scan has an identity in lane 0; a region may be anything.
// CHECK-LABEL: func.func @not_idempotent(
func.func @not_idempotent() -> (i32, i32, i32, i32, i32) {
  // CHECK: qd.simt.reduce_all add
  // CHECK: qd.simt.reduce_all xor
  // CHECK: qd.simt.inclusive_scan mul
  // CHECK: qd.simt.exclusive_scan minsi
  // CHECK: qd.simt.reduce_all %
  %c = arith.constant 5 : i32
  %0 = qd.simt.reduce_all add %c : i32
  %1 = qd.simt.reduce_all xor %c : i32
  %2 = qd.simt.inclusive_scan mul %c : i32
  %3 = qd.simt.exclusive_scan minsi %c : i32
  %4 = qd.simt.reduce_all %c : i32 identity [0 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    qd.yield %b : i32
  }
  return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i32
}

//===----------------------------------------------------------------------===//
// Canonical forms written in Rust: the cheaper move
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @shuffle_from_a_uniform_lane(
func.func @shuffle_from_a_uniform_lane(%v: f32) -> (f32, f32, f32) {
  // CHECK-DAG: %[[SIZE:.*]] = qd.simt.subgroup_size
  // CHECK-DAG: %[[LAST:.*]] = arith.subi %[[SIZE]]
  // CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
  // CHECK: qd.simt.broadcast %arg0, %[[C3]]
  // CHECK: qd.simt.broadcast %arg0, %[[LAST]]
  // CHECK: qd.simt.broadcast_first %arg0
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %size = qd.simt.subgroup_size
  %last = arith.subi %size, %c1 : i32
  %0 = qd.simt.shuffle idx %v, %c3 : f32
  %1 = qd.simt.shuffle idx %v, %last : f32
  %2 = qd.simt.shuffle idx %v, %c0 : f32
  return %0, %1, %2 : f32, f32, f32
}

// CHECK-LABEL: func.func @broadcast_from_lane_zero(
func.func @broadcast_from_lane_zero(%v: i64, %lane: i32) -> (i64, i64) {
  // CHECK-NEXT: qd.simt.broadcast_first %arg0 : i64
  // CHECK-NEXT: qd.simt.broadcast %arg0, %arg1 : i64
  %c0 = arith.constant 0 : i32
  %0 = qd.simt.broadcast %v, %c0 : i64
  %1 = qd.simt.broadcast %v, %lane : i64
  return %0, %1 : i64, i64
}
