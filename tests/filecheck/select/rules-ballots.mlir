// The rules of votes that are masks of lanes: ballots, and counts, ranks and clusters as their bits.

// RUN: qd-opt %s --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: qd-opt %s --qd-select-lowering=target=amdgpu:gfx1100,wave=32 | FileCheck %s --check-prefixes=CHECK,AMD

// A sum of predicates is the bits of a ballot.
// CHECK-LABEL: func.func private @count_is_popcnt(
// CHECK:         %[[MASK:.*]] = qd.simt.ballot
// CHECK:         qd.math.popcnt %[[MASK]] {qd.why = ["count-is-popcnt"]} : i64
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @count_is_popcnt(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %r = qd.simt.reduce_all add %one : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// So is one of ones and zeros by a predicate.
// CHECK-LABEL: func.func private @count_of_numbers(
// CHECK:         %[[MASK:.*]] = qd.simt.ballot
// CHECK:         qd.math.popcnt %[[MASK]] {qd.why = [{{.*}}"count-is-popcnt"{{.*}}]} : i64
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @count_of_numbers(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %n = arith.select %p, %one, %zero : i32
  %r = qd.simt.reduce_all add %n : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// The exclusive scan of a predicate is the bits of a ballot below the lane.
// CHECK-LABEL: func.func private @rank_is_scan(
// CHECK:         %[[MASK:.*]] = qd.simt.ballot
// CHECK:         %[[LOWER:.*]] = qd.simt.lanemask lt
// CHECK:         %[[BITS:.*]] = arith.andi %[[MASK]], %[[LOWER]]
// CHECK:         qd.math.popcnt %[[BITS]] {qd.why = ["rank-is-scan"]} : i64
// CHECK-NOT:     qd.simt.exclusive_scan
// CHECK:         return
func.func private @rank_is_scan(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %r = qd.simt.exclusive_scan add %one : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// The inclusive one has the lane's own bit as well.
// CHECK-LABEL: func.func private @rank_with_own(
// CHECK:         %[[MASK:.*]] = qd.simt.ballot
// CHECK:         %[[LOWER:.*]] = qd.simt.lanemask le
// CHECK:         %[[BITS:.*]] = arith.andi %[[MASK]], %[[LOWER]]
// CHECK:         qd.math.popcnt %[[BITS]] {qd.why = ["rank-with-own"]} : i64
// CHECK-NOT:     qd.simt.inclusive_scan
// CHECK:         return
func.func private @rank_with_own(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %r = qd.simt.inclusive_scan add %one : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// The lanes that do not vote are those left of all.
// CHECK-LABEL: func.func private @count_of_not(
// CHECK:         %[[COUNT:.*]] = {{qd.simt.count_true|qd.math.popcnt}}
// CHECK-NOT:     {{count_true|ballot|popcnt}} %
// CHECK:         arith.subi %{{.*}}, %[[COUNT]] {qd.why = ["count-of-not"{{.*}}]} : i32
// CHECK:         return
func.func private @count_of_not(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %true = arith.constant true
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %n = arith.xori %p, %true : i1
  %count = qd.simt.count_true %p
  %rest = qd.simt.count_true %n
  %r = arith.muli %count, %rest : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Below a lane they are those left of as many as its number says.
// CHECK-LABEL: func.func private @rank_of_not(
// CHECK:         qd.simt.ballot
// CHECK-NOT:     qd.simt.ballot
// CHECK:         %[[RANK:.*]] = qd.math.popcnt
// CHECK:         arith.subi %{{.*}}, %[[RANK]] {qd.why = ["rank-of-not"{{.*}}]} : i32
// CHECK-NOT:     {{qd.simt.*scan}}
// CHECK:         return
func.func private @rank_of_not(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %true = arith.constant true
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %n = arith.xori %p, %true : i1
  %one = arith.extui %p : i1 to i32
  %other = arith.extui %n : i1 to i32
  %rank = qd.simt.exclusive_scan add %one : i32
  %rank_of_rest = qd.simt.exclusive_scan add %other : i32
  %r = arith.muli %rank, %rank_of_rest : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// A mask of the lanes that have both of two is made of two masks that are there, or is a ballot by itself.
// CHECK-LABEL: func.func private @ballot_of_and(
// CHECK:         %[[P:.*]] = arith.cmpi sgt
// CHECK:         %[[Q:.*]] = arith.cmpi slt
// CHECK:         %[[A:.*]] = qd.simt.ballot %[[P]]
// CHECK:         %[[B:.*]] = qd.simt.ballot %[[Q]]
// CHECK-NOT:     qd.simt.ballot
// CHECK:         arith.andi %[[A]], %[[B]] {qd.why = ["ballot-of-and"]} : i64
// CHECK-NOT:     qd.simt.ballot
// CHECK:         return
func.func private @ballot_of_and(%in: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %ten = arith.constant 10 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %q = arith.cmpi slt, %x, %ten : i32
  %a = qd.simt.ballot %p
  %b = qd.simt.ballot %q
  %pq = arith.andi %p, %q : i1
  %c = qd.simt.ballot %pq
  %ab = arith.muli %a, %b : i64
  %r = arith.muli %ab, %c : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// A mask of the lanes that have one of two is made of two masks that are there, or is a ballot by itself.
// CHECK-LABEL: func.func private @ballot_of_or(
// CHECK:         %[[P:.*]] = arith.cmpi sgt
// CHECK:         %[[Q:.*]] = arith.cmpi slt
// CHECK:         %[[A:.*]] = qd.simt.ballot %[[P]]
// CHECK:         %[[B:.*]] = qd.simt.ballot %[[Q]]
// CHECK-NOT:     qd.simt.ballot
// CHECK:         arith.ori %[[A]], %[[B]] {qd.why = ["ballot-of-or"]} : i64
// CHECK-NOT:     qd.simt.ballot
// CHECK:         return
func.func private @ballot_of_or(%in: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %ten = arith.constant 10 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %q = arith.cmpi slt, %x, %ten : i32
  %a = qd.simt.ballot %p
  %b = qd.simt.ballot %q
  %pq = arith.ori %p, %q : i1
  %c = qd.simt.ballot %pq
  %ab = arith.muli %a, %b : i64
  %r = arith.muli %ab, %c : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// A mask of the lanes that have one alone of two is made of two masks that are there, or is a ballot by itself.
// CHECK-LABEL: func.func private @ballot_of_xor(
// CHECK:         %[[P:.*]] = arith.cmpi sgt
// CHECK:         %[[Q:.*]] = arith.cmpi slt
// CHECK:         %[[A:.*]] = qd.simt.ballot %[[P]]
// CHECK:         %[[B:.*]] = qd.simt.ballot %[[Q]]
// CHECK-NOT:     qd.simt.ballot
// CHECK:         arith.xori %[[A]], %[[B]] {qd.why = ["ballot-of-xor"]} : i64
// CHECK-NOT:     qd.simt.ballot
// CHECK:         return
func.func private @ballot_of_xor(%in: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %ten = arith.constant 10 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %q = arith.cmpi slt, %x, %ten : i32
  %a = qd.simt.ballot %p
  %b = qd.simt.ballot %q
  %pq = arith.xori %p, %q : i1
  %c = qd.simt.ballot %pq
  %ab = arith.muli %a, %b : i64
  %r = arith.muli %ab, %c : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// Where nothing else asks for two masks, one ballot takes the place of both.
// CHECK-LABEL: func.func private @ballots_combined(
// CHECK:         %[[P:.*]] = arith.cmpi sgt
// CHECK:         %[[Q:.*]] = arith.cmpi slt
// NVIDIA:        %[[BOTH:.*]] = arith.xori %[[P]], %[[Q]] : i1
// NVIDIA:        qd.simt.ballot %[[BOTH]] {{.*}}qd.why = ["ballot-of-xor"]}
// NVIDIA-NOT:    qd.simt.ballot
// CHECK:         return
func.func private @ballots_combined(%in: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %ten = arith.constant 10 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %q = arith.cmpi slt, %x, %ten : i32
  %a = qd.simt.ballot %p
  %b = qd.simt.ballot %q
  %r = arith.xori %a, %b : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// The mask of all lanes is known: every lane is of the subgroup.
// CHECK-LABEL: func.func private @ballot_of_all(
// CHECK-SAME:    rules = ["ballot-of-all"]
// CHECK-NOT:     qd.simt.ballot
// CHECK:         arith.shrui %{{.*}} : i64
// CHECK-NOT:     qd.simt.ballot
// CHECK:         return
func.func private @ballot_of_all(%out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %true = arith.constant true
  %t = qd.simt.block.thread_id
  %r = qd.simt.ballot %true
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// The mask of no lanes has no bit.
// CHECK-LABEL: func.func private @ballot_of_none(
// CHECK-SAME:    rules = ["ballot-of-none"]
// CHECK-NOT:     qd.simt.ballot
// CHECK:         %[[NONE:.*]] = arith.constant {{.*}}0 : i64
// CHECK:         memref.store %[[NONE]]
func.func private @ballot_of_none(%out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %false = arith.constant false
  %t = qd.simt.block.thread_id
  %r = qd.simt.ballot %false
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// Some lane of a cluster votes if some bit of its part of a mask is set.
// CHECK-LABEL: func.func private @any_in_cluster(
// CHECK:         %[[MASK:.*]] = qd.simt.ballot
// CHECK:         %[[PART:.*]] = arith.andi %[[MASK]], %{{.*}} : i64
// CHECK:         arith.cmpi ne, %[[PART]], %{{.*}} {qd.why = ["any-in-cluster"]} : i64
// CHECK-NOT:     qd.simt.any
// CHECK:         return
func.func private @any_in_cluster(%in: memref<?xi32>, %out: memref<?xi1>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %r = qd.simt.any %p tile(3)
  memref.store %r, %out[%t] : memref<?xi1>
  return
}

// A cluster's count is the set bits of its part of a mask.
// CHECK-LABEL: func.func private @count_in_cluster(
// NVIDIA:        %[[MASK:.*]] = qd.simt.ballot
// NVIDIA:        %[[PART:.*]] = arith.andi %[[MASK]], %{{.*}} : i64
// NVIDIA:        qd.math.popcnt %[[PART]] {qd.why = ["count-in-cluster"]} : i64
// NVIDIA-NOT:    qd.simt.count_true
// CHECK:         return
func.func private @count_in_cluster(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %r = qd.simt.count_true %p tile(3)
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// A rank in a cluster is the set bits of its part of the mask below the lane.
// CHECK-LABEL: func.func private @rank_in_cluster(
// CHECK:         %[[MASK:.*]] = qd.simt.ballot
// CHECK:         %[[PART:.*]] = arith.andi %[[MASK]], %{{.*}} : i64
// CHECK:         %[[LOWER:.*]] = qd.simt.lanemask lt
// CHECK:         %[[BITS:.*]] = arith.andi %[[PART]], %[[LOWER]] : i64
// CHECK:         qd.math.popcnt %[[BITS]] {qd.why = ["rank-in-cluster"]} : i64
// CHECK-NOT:     qd.simt.exclusive_scan
// CHECK:         return
func.func private @rank_in_cluster(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %r = qd.simt.exclusive_scan add %one tile(3) : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// With the lane's own it is those up to the lane.
// CHECK-LABEL: func.func private @rank_in_cluster_with_own(
// NVIDIA:        %[[MASK:.*]] = qd.simt.ballot
// NVIDIA:        %[[PART:.*]] = arith.andi %[[MASK]], %{{.*}} : i64
// NVIDIA:        %[[LOWER:.*]] = qd.simt.lanemask le
// NVIDIA:        %[[BITS:.*]] = arith.andi %[[PART]], %[[LOWER]] : i64
// NVIDIA:        qd.math.popcnt %[[BITS]] {qd.why = ["rank-in-cluster-with-own"]} : i64
// NVIDIA-NOT:    qd.simt.inclusive_scan
// CHECK:         return
func.func private @rank_in_cluster_with_own(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %r = qd.simt.inclusive_scan add %one tile(3) : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Any, all, and peers by a bit from one ballot, where the target has no vote that is cheaper.
// CHECK-LABEL: func.func private @one_ballot(
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
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %mask = qd.simt.ballot %p
  %any = qd.simt.any %p
  %all = qd.simt.all %p
  %peers = qd.simt.match_any %one bits(1) : i32
  %a = arith.extui %any : i1 to i64
  %b = arith.extui %all : i1 to i64
  %c = arith.muli %a, %mask : i64
  %d = arith.muli %b, %peers : i64
  %r = arith.addi %c, %d : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// A whole subgroup is no cluster: its mask has no other part.
// CHECK-LABEL: func.func private @whole_votes(
// CHECK-NOT:     {{"(any-in-cluster|count-in-cluster|rank-in-cluster|rank-in-cluster-with-own)"}}
// CHECK:         %[[MASK:.*]] = qd.simt.ballot
// CHECK-NOT:     qd.simt.ballot
// CHECK:         qd.math.popcnt %[[MASK]]
// CHECK:         return
func.func private @whole_votes(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %any = qd.simt.any %p
  %count = qd.simt.count_true %p
  %rank = qd.simt.exclusive_scan add %one : i32
  %own = qd.simt.inclusive_scan add %one : i32
  %a = arith.select %any, %count, %rank : i32
  %r = arith.muli %a, %own : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}
