// Each identity of the algebra on what programs write, with the rule that says so; on a target with few forms and on one
// with more, where a native vote is as cheap as a ballot that is there.

// RUN: qd-opt %s --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: qd-opt %s --qd-select-lowering=target=amdgpu:gfx1100 | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: qd-opt %s --qd-select-lowering='target=nvptx:sm_90 explain=true' -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// EXPLAIN: @uniform threads 64
// EXPLAIN:   qd.simt.broadcast -> v0 by broadcast-of-uniform

// Reduce, then broadcast, is reduce-all: of floats, too.
// CHECK-LABEL: func.func private @reduce_all
// CHECK:         qd.simt.reduce_all add %{{.*}} tile({{.}}) {qd.why = ["first-of-reduce"]} : f32
// CHECK-NOT:     qd.simt.broadcast
// CHECK:         return
func.func private @reduce_all(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xf32>
  %s = qd.simt.reduce add %v : f32
  %b = qd.simt.broadcast_first %s : f32
  memref.store %b, %out[%t] : memref<?xf32>
  return
}

// The same where lane 0 is read by a shuffle.
// CHECK-LABEL: func.func private @reduce_read
// CHECK:         qd.simt.reduce_all add %{{.*}} tile({{.}}) {qd.why = ["first-of-reduce"]} : f32
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         return
func.func private @reduce_read(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xf32>
  %s = qd.simt.reduce add %v : f32
  %b = qd.simt.shuffle idx %s, %zero : f32
  memref.store %b, %out[%t] : memref<?xf32>
  return
}

// What is the same in all lanes is read from none.
// CHECK-LABEL: func.func private @uniform
// CHECK-SAME:    rules = ["broadcast-of-uniform"]
// CHECK-NOT:     qd.simt.broadcast
// CHECK:         return
func.func private @uniform(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%zero] : memref<?xf32>
  %b = qd.simt.broadcast %v, %three : f32
  memref.store %b, %out[%t] : memref<?xf32>
  return
}

// A sum of predicates is the bits of a ballot.
// CHECK-LABEL: func.func private @count
// CHECK:         %[[M:.*]] = qd.simt.ballot
// CHECK:         qd.math.popcnt %[[M]] {qd.why = ["count-is-popcnt"]} : i64
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @count(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %one = arith.extui %p : i1 to i32
  %sum = qd.simt.reduce_all add %one : i32
  memref.store %sum, %out[%t] : memref<?xi32>
  return
}

// So is one of ones and zeros.
// CHECK-LABEL: func.func private @selected
// CHECK:         %[[M:.*]] = qd.simt.ballot
// CHECK:         qd.math.popcnt %[[M]] {qd.why = [{{.*}}"count-is-popcnt"{{.*}}]} : i64
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @selected(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %n = arith.select %p, %one, %zero : i32
  %sum = qd.simt.reduce_all add %n : i32
  memref.store %sum, %out[%t] : memref<?xi32>
  return
}

// The exclusive scan of a predicate is the bits of a ballot below the lane.
// CHECK-LABEL: func.func private @rank
// CHECK:         %[[M:.*]] = qd.simt.ballot
// CHECK:         %[[B:.*]] = qd.simt.lanemask lt
// CHECK:         arith.andi %[[M]], %[[B]]
// CHECK:         qd.math.popcnt %{{.*}} {qd.why = ["rank-is-scan"]} : i64
// CHECK-NOT:     qd.simt.exclusive_scan
// CHECK:         return
func.func private @rank(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %one = arith.extui %p : i1 to i32
  %rank = qd.simt.exclusive_scan add %one : i32
  memref.store %rank, %out[%t] : memref<?xi32>
  return
}

// Of two shuffles of 64 bits the first becomes one of lanes' numbers.
// CHECK-LABEL: func.func private @idx
// NVIDIA:        qd.simt.shuffle idx %{{.*}} : i32
// NVIDIA:        qd.simt.shuffle idx %{{.*}}qd.why = ["idx-of-idx"]} : i64
// NVIDIA-NOT:    qd.simt.shuffle
// CHECK:         return
func.func private @idx(%in: memref<?xi64>, %at: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %c31 = arith.constant 31 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi64>
  %x = memref.load %at[%t] : memref<?xi32>
  %i = arith.andi %x, %c31 : i32
  %y = arith.xori %i, %c31 : i32
  %a = qd.simt.shuffle idx %v, %i : i64
  %b = qd.simt.shuffle idx %a, %y : i64
  memref.store %b, %out[%t] : memref<?xi64>
  return
}

// A move by a constant and one from one lane are one.
// CHECK-LABEL: func.func private @mixed
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         qd.simt.broadcast %{{.*}}, %c3_i32 {{.*}}qd.why = ["broadcast-of-xor"]} : i32
// CHECK:         qd.simt.broadcast %{{.*}}, %c4_i32 {{.*}}qd.why = ["first-of-xor"]} : i32
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         return
func.func private @mixed(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %four = arith.constant 4 : i32
  %seven = arith.constant 7 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %a = qd.simt.shuffle xor %v, %four : i32
  %b = qd.simt.broadcast %a, %seven : i32
  %c = qd.simt.broadcast_first %a : i32
  %d = arith.addi %b, %c : i32
  memref.store %d, %out[%t] : memref<?xi32>
  return
}

// The last lane of an inclusive scan has the reduction.
// CHECK-LABEL: func.func private @last
// CHECK-NOT:     qd.simt.inclusive_scan
// CHECK:         qd.simt.reduce_all maxsi %{{.*}}qd.why = ["last-of-scan"]} : i32
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         return
func.func private @last(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %one = arith.constant 1 : i32
  %size = qd.simt.subgroup_size
  %last = arith.subi %size, %one : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %scan = qd.simt.inclusive_scan maxsi %v : i32
  %sum = qd.simt.shuffle idx %scan, %last : i32
  memref.store %sum, %out[%t] : memref<?xi32>
  return
}

// Lanes' numbers with bits flipped are a shuffle by xor, which is DPP on AMD's targets.
// CHECK-LABEL: func.func private @exchange
// CHECK:         qd.simt.shuffle xor %{{.*}}, %c3_i32 {{.*}}qd.why = ["idx-is-xor"]} : i32
func.func private @exchange(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %three = arith.constant 3 : i32
  %lane = qd.simt.lane_id
  %other = arith.xori %lane, %three : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %b = qd.simt.shuffle idx %v, %other : i32
  memref.store %b, %out[%t] : memref<?xi32>
  return
}

// Segments within clusters, as ranges of masks.
// CHECK-LABEL: func.func private @segments
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         qd.math.popcnt %{{.*}} {qd.why = ["count-in-segment-of-cluster"
// CHECK:         arith.extui %{{.*}} {qd.why = ["any-in-segment-of-cluster"
// CHECK:         arith.muli %{{.*}} {qd.why = ["segment-of-copies-in-cluster"
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @segments(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %v, %zero : i32
  %p = arith.cmpi sgt, %v, %one : i32
  %n = arith.extui %p : i1 to i32
  %a = qd.simt.segmented_reduce add %n heads %h tile(3) : i32
  %b = qd.simt.segmented_reduce maxui %n heads %h tile(3) : i32
  %c = qd.simt.segmented_reduce add %one heads %h tile(3) : i32
  %d = arith.addi %a, %b : i32
  %e = arith.addi %c, %d : i32
  memref.store %e, %out[%t] : memref<?xi32>
  return
}

// A sum in segments is a difference of prefixes that are there.
// CHECK-LABEL: func.func private @sums
// CHECK:         qd.simt.inclusive_scan add
// CHECK:         arith.subi %{{.*}} {qd.why = ["segment-by-prefixes"
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @sums(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %v, %zero : i32
  %a = qd.simt.segmented_reduce add %v heads %h : i32
  %scan = qd.simt.inclusive_scan add %v : i32
  %both = arith.xori %a, %scan : i32
  memref.store %both, %out[%t] : memref<?xi32>
  return
}

// Any, all, and peers by a bit from one ballot.
// CHECK-LABEL: func.func private @one_ballot
// CHECK:         %[[MASK:.*]] = qd.simt.ballot
// AMD-NOT:       qd.simt.any
// AMD:           arith.cmpi ne, %[[MASK]], %{{.*}} {qd.why = ["any-is-ballot"]} : i64
// AMD-NOT:       qd.simt.all
// AMD:           {qd.why = ["all-is-not-any", "any-is-ballot", "ballot-of-xor", "ballot-of-all"]} : i1
// CHECK-NOT:     qd.simt.match_any
// CHECK-NOT:     qd.simt.ballot
// CHECK:         arith.select %{{.*}}, %[[MASK]], %{{.*}} {qd.why = ["match-of-bit", "ballot-of-xor", "ballot-of-all"]} : i64
// CHECK:         return
func.func private @one_ballot(%in: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %bit = arith.extui %p : i1 to i32
  %mask = qd.simt.ballot %p
  %any = qd.simt.any %p
  %all = qd.simt.all %p
  %peers = qd.simt.match_any %bit bits(1) : i32
  %a = arith.extui %any : i1 to i64
  %b = arith.extui %all : i1 to i64
  %c = arith.muli %a, %mask : i64
  %d = arith.muli %b, %peers : i64
  %e = arith.addi %c, %d : i64
  memref.store %e, %out[%t] : memref<?xi64>
  return
}
