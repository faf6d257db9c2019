// Every subgroup and block op, in every form it can be written in.
// RUN: qd-opt %s | FileCheck %s

//===----------------------------------------------------------------------===//
// Thread and lane ids
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @ids(
func.func @ids() {
  // CHECK: qd.simt.lane_id
  %lane = qd.simt.lane_id
  // CHECK: qd.simt.subgroup_size
  %size = qd.simt.subgroup_size
  // CHECK: qd.simt.log2_subgroup_size
  %log = qd.simt.log2_subgroup_size
  // CHECK: qd.simt.subgroup_id
  %subgroup = qd.simt.subgroup_id
  // CHECK: qd.simt.num_subgroups
  %subgroups = qd.simt.num_subgroups
  // CHECK: qd.simt.block.id
  %block = qd.simt.block.id
  // CHECK: qd.simt.block.dim
  %threads = qd.simt.block.dim
  // CHECK: qd.simt.block.thread_id
  %thread = qd.simt.block.thread_id
  // CHECK: qd.simt.grid.dim
  %blocks = qd.simt.grid.dim
  return
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @shuffle(
func.func @shuffle(%i: i32, %l: i64, %f: f32, %d: f64, %lane: i32) {
  // CHECK: qd.simt.shuffle idx %arg0, %arg4 : i32
  %0 = qd.simt.shuffle idx %i, %lane : i32
  // CHECK: qd.simt.shuffle up %arg1, %arg4 : i64
  %1 = qd.simt.shuffle up %l, %lane : i64
  // CHECK: qd.simt.shuffle down %arg2, %arg4 in_range : f32
  %2 = qd.simt.shuffle down %f, %lane in_range : f32
  // CHECK: qd.simt.shuffle xor %arg3, %arg4 : f64
  %3 = qd.simt.shuffle xor %d, %lane : f64
  // CHECK: qd.simt.shuffle xor %arg0, %arg4 {note = "kept"} : i32
  %4 = qd.simt.shuffle xor %i, %lane {note = "kept"} : i32
  return
}

// CHECK-LABEL: func.func @broadcast(
func.func @broadcast(%i: i32, %l: i64, %f: f32, %d: f64, %lane: i32) {
  // CHECK: qd.simt.broadcast %arg0, %arg4 : i32
  %0 = qd.simt.broadcast %i, %lane : i32
  // CHECK: qd.simt.broadcast %arg1, %arg4 : i64
  %1 = qd.simt.broadcast %l, %lane : i64
  // CHECK: qd.simt.broadcast %arg2, %arg4 : f32
  %2 = qd.simt.broadcast %f, %lane : f32
  // CHECK: qd.simt.broadcast %arg3, %arg4 {note = "kept"} : f64
  %3 = qd.simt.broadcast %d, %lane {note = "kept"} : f64
  // CHECK: qd.simt.broadcast_first %arg0 : i32
  %4 = qd.simt.broadcast_first %i : i32
  // CHECK: qd.simt.broadcast_first %arg1 : i64
  %5 = qd.simt.broadcast_first %l : i64
  // CHECK: qd.simt.broadcast_first %arg2 : f32
  %6 = qd.simt.broadcast_first %f : f32
  // CHECK: qd.simt.broadcast_first %arg3 {note = "kept"} : f64
  %7 = qd.simt.broadcast_first %d {note = "kept"} : f64
  return
}

// CHECK-LABEL: func.func @rotate(
func.func @rotate(%i: i32, %d: f64, %delta: i32) {
  // CHECK: qd.simt.rotate %arg0, %arg2 : i32
  %0 = qd.simt.rotate %i, %delta : i32
  // CHECK: qd.simt.rotate %arg1, %arg2 tile(4) : f64
  %1 = qd.simt.rotate %d, %delta tile(4) : f64
  // CHECK: qd.simt.rotate %arg1, %arg2 tile(6) {note = "kept"} : f64
  %2 = qd.simt.rotate %d, %delta tile(6) {note = "kept"} : f64
  return
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @control(
func.func @control() {
  // CHECK: qd.simt.elect
  %leader = qd.simt.elect
  // CHECK: qd.simt.sync
  qd.simt.sync
  // CHECK: qd.simt.mem_fence
  qd.simt.mem_fence
  // CHECK: qd.simt.pause 1000
  qd.simt.pause 1000
  // CHECK: qd.simt.block.sync
  qd.simt.block.sync
  // CHECK: qd.simt.block.mem_fence {note = "kept"}
  qd.simt.block.mem_fence {note = "kept"}
  return
}

//===----------------------------------------------------------------------===//
// Votes and masks
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @votes(
func.func @votes(%p: i1, %i: i32, %l: i64, %f: f32, %d: f64) {
  // CHECK: qd.simt.all %arg0
  %0 = qd.simt.all %p
  // CHECK: qd.simt.all %arg0 tile(5)
  %1 = qd.simt.all %p tile(5)
  // CHECK: qd.simt.any %arg0
  %2 = qd.simt.any %p
  // CHECK: qd.simt.any %arg0 tile(0) {note = "kept"}
  %3 = qd.simt.any %p tile(0) {note = "kept"}
  // CHECK: qd.simt.count_true %arg0
  %n = qd.simt.count_true %p
  // CHECK: qd.simt.count_true %arg0 tile(3) {note = "kept"}
  %m = qd.simt.count_true %p tile(3) {note = "kept"}
  // CHECK: qd.simt.all_equal %arg1 : i32
  %4 = qd.simt.all_equal %i : i32
  // CHECK: qd.simt.all_equal %arg2 : i64
  %5 = qd.simt.all_equal %l : i64
  // CHECK: qd.simt.all_equal %arg3 : f32
  %6 = qd.simt.all_equal %f : f32
  // CHECK: qd.simt.all_equal %arg4 tile(2) {note = "kept"} : f64
  %7 = qd.simt.all_equal %d tile(2) {note = "kept"} : f64
  return
}

// CHECK-LABEL: func.func @masks(
func.func @masks(%p: i1, %lane: i32, %i: i32, %l: i64) {
  // CHECK: qd.simt.ballot %arg0
  %0 = qd.simt.ballot %p
  // CHECK: qd.simt.ballot_first_n 1 %arg0
  %1 = qd.simt.ballot_first_n 1 %p
  // CHECK: qd.simt.ballot_first_n 32 %arg0 {note = "kept"}
  %2 = qd.simt.ballot_first_n 32 %p {note = "kept"}
  // CHECK: qd.simt.lanemask lt %arg1 : i32
  %3 = qd.simt.lanemask lt %lane : i32
  // CHECK: qd.simt.lanemask le %arg1 : i64
  %4 = qd.simt.lanemask le %lane : i64
  // CHECK: qd.simt.lanemask eq %arg1 : i32
  %5 = qd.simt.lanemask eq %lane : i32
  // CHECK: qd.simt.lanemask gt %arg1 : i64
  %6 = qd.simt.lanemask gt %lane : i64
  // CHECK: qd.simt.lanemask ge %arg1 {note = "kept"} : i32
  %7 = qd.simt.lanemask ge %lane {note = "kept"} : i32
  // CHECK: qd.simt.match_any %arg2 : i32
  %8 = qd.simt.match_any %i : i32
  // CHECK: qd.simt.match_any %arg2 bits(8) : i32
  %digit = qd.simt.match_any %i bits(8) : i32
  // CHECK: qd.simt.match_any %arg3 {note = "kept"} : i64
  %9 = qd.simt.match_any %l {note = "kept"} : i64
  // CHECK: qd.simt.match_all %arg3 {note = "kept"} : i64
  %10 = qd.simt.match_all %l {note = "kept"} : i64
  // CHECK: qd.simt.active_mask {note = "kept"}
  %11 = qd.simt.active_mask {note = "kept"}
  return
}

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @kinds(
func.func @kinds(%i: i32, %l: i64, %f: f32, %d: f64) {
  // CHECK: qd.simt.reduce add %arg0 : i32
  %0 = qd.simt.reduce add %i : i32
  // CHECK: qd.simt.reduce mul %arg1 : i64
  %1 = qd.simt.reduce mul %l : i64
  // CHECK: qd.simt.reduce minsi %arg0 : i32
  %2 = qd.simt.reduce minsi %i : i32
  // CHECK: qd.simt.reduce minui %arg1 : i64
  %3 = qd.simt.reduce minui %l : i64
  // CHECK: qd.simt.reduce minnumf %arg2 : f32
  %4 = qd.simt.reduce minnumf %f : f32
  // CHECK: qd.simt.reduce maxsi %arg0 : i32
  %5 = qd.simt.reduce maxsi %i : i32
  // CHECK: qd.simt.reduce maxui %arg1 : i64
  %6 = qd.simt.reduce maxui %l : i64
  // CHECK: qd.simt.reduce maxnumf %arg3 : f64
  %7 = qd.simt.reduce maxnumf %d : f64
  // CHECK: qd.simt.reduce and %arg0 : i32
  %8 = qd.simt.reduce and %i : i32
  // CHECK: qd.simt.reduce or %arg1 : i64
  %9 = qd.simt.reduce or %l : i64
  // CHECK: qd.simt.reduce xor %arg0 : i32
  %10 = qd.simt.reduce xor %i : i32
  // CHECK: qd.simt.reduce add %arg2 : f32
  %11 = qd.simt.reduce add %f : f32
  // CHECK: qd.simt.reduce mul %arg3 : f64
  %12 = qd.simt.reduce mul %d : f64
  return
}

// CHECK-LABEL: func.func @subgroup_combine(
func.func @subgroup_combine(%i: i32, %f: f32, %head: i1) {
  // CHECK: qd.simt.reduce add %arg0 tile(3) : i32
  %0 = qd.simt.reduce add %i tile(3) : i32
  // CHECK: qd.simt.reduce_all add %arg0 : i32
  %1 = qd.simt.reduce_all add %i : i32
  // CHECK: qd.simt.reduce_all minnumf %arg1 tile(0) {note = "kept"} : f32
  %2 = qd.simt.reduce_all minnumf %f tile(0) {note = "kept"} : f32
  // CHECK: qd.simt.inclusive_scan add %arg0 : i32
  %3 = qd.simt.inclusive_scan add %i : i32
  // CHECK: qd.simt.inclusive_scan mul %arg1 tile(5) : f32
  %4 = qd.simt.inclusive_scan mul %f tile(5) : f32
  // CHECK: qd.simt.exclusive_scan xor %arg0 : i32
  %5 = qd.simt.exclusive_scan xor %i : i32
  // CHECK: qd.simt.exclusive_scan maxnumf %arg1 tile(6) : f32
  %6 = qd.simt.exclusive_scan maxnumf %f tile(6) : f32
  // CHECK: qd.simt.segmented_reduce add %arg1 heads %arg2 : f32
  %7 = qd.simt.segmented_reduce add %f heads %head : f32
  // CHECK: qd.simt.segmented_reduce minsi %arg0 heads %arg2 tile(4) {note = "kept"} : i32
  %8 = qd.simt.segmented_reduce minsi %i heads %head tile(4) {note = "kept"} : i32
  return
}

// CHECK-LABEL: func.func @subgroup_region(
func.func @subgroup_region(%i: i32, %f: f32, %head: i1) {
  // CHECK: qd.simt.reduce %arg0 : i32 identity [0 : i32] combiner {
  %r = qd.simt.reduce %i : i32 identity [0 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    %x = arith.muli %a, %b : i32
    // CHECK: qd.yield %5 : i32
    qd.yield %x : i32
  }
  // CHECK: qd.simt.reduce_all %arg1, %arg0 tile(3) : f32, i32 identity [0.000000e+00 : f32, -1 : i32] combiner {
  %m:2 = qd.simt.reduce_all %f, %i tile(3) : f32, i32 identity [0.0 : f32, -1 : i32] combiner {
  ^bb0(%la: f32, %lb: i32, %ra: f32, %rb: i32):
    %p = arith.cmpf olt, %la, %ra : f32
    %x = arith.select %p, %la, %ra : f32
    %y = arith.select %p, %lb, %rb : i32
    // CHECK: qd.yield %6, %7 : f32, i32
    qd.yield %x, %y : f32, i32
  }
  // CHECK: qd.simt.inclusive_scan %arg0 {note = "kept"} : i32 identity [0 : i32] combiner {
  %s = qd.simt.inclusive_scan %i {note = "kept"} : i32 identity [0 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    // CHECK: qd.yield %arg4 : i32
    qd.yield %b : i32
  }
  // CHECK: qd.simt.exclusive_scan %arg1 tile(2) : f32 identity [1.000000e+00 : f32] combiner {
  %e = qd.simt.exclusive_scan %f tile(2) : f32 identity [1.0 : f32] combiner {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    // CHECK: qd.yield %5 : f32
    qd.yield %x : f32
  }
  // CHECK: qd.simt.segmented_reduce %arg0, %arg1 heads %arg2 tile(1) : i32, f32 identity [0 : i32, 0.000000e+00 : f32] combiner {
  %g:2 = qd.simt.segmented_reduce %i, %f heads %head tile(1) : i32, f32 identity [0 : i32, 0.0 : f32] combiner {
  ^bb0(%la: i32, %lb: f32, %ra: i32, %rb: f32):
    // CHECK: qd.yield %arg5, %arg4 : i32, f32
    qd.yield %ra, %lb : i32, f32
  }
  return
}

// CHECK-LABEL: func.func @bitonic_sort_kv(
func.func @bitonic_sort_kv(%i: i32, %l: i64, %f: f32, %d: f64) {
  // CHECK: qd.simt.bitonic_sort_kv %arg0, %arg3 : i32, f64
  %0, %1 = qd.simt.bitonic_sort_kv %i, %d : i32, f64
  // CHECK: qd.simt.bitonic_sort_kv %arg2, %arg1 tile(3) : f32, i64
  %2, %3 = qd.simt.bitonic_sort_kv %f, %l tile(3) : f32, i64
  // CHECK: qd.simt.bitonic_sort_kv %arg0, %arg2 unsigned_key : i32, f32
  %4, %5 = qd.simt.bitonic_sort_kv %i, %f unsigned_key : i32, f32
  // CHECK: qd.simt.bitonic_sort_kv %arg3, %arg1 unsigned_value : f64, i64
  %6, %7 = qd.simt.bitonic_sort_kv %d, %l unsigned_value : f64, i64
  // CHECK: qd.simt.bitonic_sort_kv %arg0, %arg1 tile(2) unsigned_key unsigned_value {note = "kept"} : i32, i64
  %8, %9 = qd.simt.bitonic_sort_kv %i, %l tile(2) unsigned_key unsigned_value {note = "kept"} : i32, i64
  return
}

//===----------------------------------------------------------------------===//
// One block
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @block_combine(
func.func @block_combine(%i: i32, %l: i64, %f: f32) {
  // CHECK: qd.simt.block.reduce add %arg1 : i64
  %0 = qd.simt.block.reduce add %l : i64
  // CHECK: qd.simt.block.reduce_all maxnumf %arg2 : f32
  %1 = qd.simt.block.reduce_all maxnumf %f : f32
  // CHECK: qd.simt.block.inclusive_scan minui %arg0 : i32
  %2 = qd.simt.block.inclusive_scan minui %i : i32
  // CHECK: qd.simt.block.exclusive_scan add %arg0 {note = "kept"} : i32
  %3 = qd.simt.block.exclusive_scan add %i {note = "kept"} : i32
  // CHECK: qd.simt.block.reduce %arg0, %arg2 : i32, f32 identity [0 : i32, 0.000000e+00 : f32] combiner {
  %4:2 = qd.simt.block.reduce %i, %f : i32, f32 identity [0 : i32, 0.0 : f32] combiner {
  ^bb0(%la: i32, %lb: f32, %ra: i32, %rb: f32):
    // CHECK: qd.yield %arg3, %arg6 : i32, f32
    qd.yield %la, %rb : i32, f32
  }
  // CHECK: qd.simt.block.reduce_all %arg0 : i32 identity [7 : i32] combiner {
  %5 = qd.simt.block.reduce_all %i : i32 identity [7 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    // CHECK: qd.yield %arg4 : i32
    qd.yield %b : i32
  }
  // CHECK: qd.simt.block.inclusive_scan %arg0 : i32 identity [7 : i32] combiner {
  %6 = qd.simt.block.inclusive_scan %i : i32 identity [7 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    // CHECK: qd.yield %arg4 : i32
    qd.yield %b : i32
  }
  // CHECK: qd.simt.block.exclusive_scan %arg0 : i32 identity [7 : i32] combiner {
  %7 = qd.simt.block.exclusive_scan %i : i32 identity [7 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    // CHECK: qd.yield %arg4 : i32
    qd.yield %b : i32
  }
  return
}

// CHECK-LABEL: func.func @shared(
func.func @shared(%digit: i32, %valid: i1) {
  // CHECK: qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
  %hist = qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
  // CHECK: qd.simt.block.shared {note = "kept"} : memref<256xi32, #gpu.address_space<workgroup>>
  %prefix = qd.simt.block.shared {note = "kept"} : memref<256xi32, #gpu.address_space<workgroup>>
  // CHECK: qd.simt.block.shared : memref<16x16xf16, #gpu.address_space<workgroup>>
  %tile = qd.simt.block.shared : memref<16x16xf16, #gpu.address_space<workgroup>>
  // CHECK: qd.simt.block.radix_rank %arg0, %0, %1 {radix_bits = 8 : i32} : memref<256xi32, #gpu.address_space<workgroup>>, memref<256xi32, #gpu.address_space<workgroup>>
  %0 = qd.simt.block.radix_rank %digit, %hist, %prefix {radix_bits = 8 : i32} : memref<256xi32, #gpu.address_space<workgroup>>, memref<256xi32, #gpu.address_space<workgroup>>
  // CHECK: qd.simt.block.radix_rank %arg0, %0, %1 where %arg1 {radix_bits = 4 : i32} : memref<256xi32, #gpu.address_space<workgroup>>, memref<256xi32, #gpu.address_space<workgroup>>
  %1 = qd.simt.block.radix_rank %digit, %hist, %prefix where %valid {radix_bits = 4 : i32} : memref<256xi32, #gpu.address_space<workgroup>>, memref<256xi32, #gpu.address_space<workgroup>>
  return
}
