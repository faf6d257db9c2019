// The rules of scans that begin anew at every head: segments become ranges of masks, and what a guard forbids stays.

// RUN: qd-opt %s --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s
// RUN: qd-opt %s --qd-select-lowering=target=amdgpu:gfx1100,wave=32 | FileCheck %s

// No heads: all lanes are one segment, and that is a scan in the same order, and so of floats, too.
// CHECK-LABEL: func.func private @without_heads(
// CHECK-SAME:    rules = ["segment-without-heads"]
// CHECK:         %[[X:.*]] = memref.load
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         qd.simt.inclusive_scan add %[[X]] {{.*}}: f32
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @without_heads(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %never = arith.constant false
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xf32>
  %r = qd.simt.segmented_reduce add %x heads %never : f32
  memref.store %r, %out[%t] : memref<?xf32>
  return
}

// All heads: each lane is a segment of its own.
// CHECK-LABEL: func.func private @segment_of_one(
// CHECK-SAME:    rules = ["segment-of-one"]
// CHECK:         %[[X:.*]] = memref.load
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         memref.store %[[X]]
func.func private @segment_of_one(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %always = arith.constant true
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xf32>
  %r = qd.simt.segmented_reduce add %x heads %always : f32
  memref.store %r, %out[%t] : memref<?xf32>
  return
}

// A value combined with itself is itself, in every segment.
// CHECK-LABEL: func.func private @idempotent_segment_of_uniform(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i32)
// CHECK-SAME:    rules = ["idempotent-segment-of-uniform"]
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         memref.store %[[U]]
func.func private @idempotent_segment_of_uniform(%in: memref<?xi32>, %out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %r = qd.simt.segmented_reduce minui %u heads %h : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Values of lanes' own are combined, and so is one value by a kind that is not idempotent.
// CHECK-LABEL: func.func private @other_kinds(
// CHECK-NOT:     "idempotent-segment-of-uniform"
// CHECK:         qd.simt.segmented_reduce minui
// CHECK:         qd.simt.segmented_reduce xor
// CHECK:         return
func.func private @other_kinds(%in: memref<?xi32>, %out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %a = qd.simt.segmented_reduce minui %x heads %h : i32
  %b = qd.simt.segmented_reduce xor %u heads %h : i32
  %r = arith.muli %a, %b : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// A sum in segments is the prefix that is there, less what is before the segment.
// CHECK-LABEL: func.func private @segment_by_prefixes(
// CHECK:         %[[SCAN:.*]] = qd.simt.inclusive_scan add %{{.*}} : i32
// CHECK:         qd.simt.ballot
// CHECK:         %[[BEFORE:.*]] = qd.simt.shuffle idx
// CHECK:         arith.subi %[[SCAN]], %[[BEFORE]] {qd.why = ["segment-by-prefixes"{{.*}}]} : i32
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @segment_by_prefixes(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %scan = qd.simt.inclusive_scan add %x : i32
  %a = qd.simt.segmented_reduce add %x heads %h : i32
  %r = arith.xori %a, %scan : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// In clusters likewise, of the prefix in the cluster.
// CHECK-LABEL: func.func private @segment_in_cluster_by_prefixes(
// CHECK:         %[[SCAN:.*]] = qd.simt.inclusive_scan add %{{.*}} tile(3) {{.*}}: i32
// CHECK:         qd.simt.ballot
// CHECK:         %[[BEFORE:.*]] = qd.simt.shuffle idx
// CHECK:         arith.subi %[[SCAN]], %[[BEFORE]] {qd.why = ["segment-in-cluster-by-prefixes"{{.*}}]} : i32
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @segment_in_cluster_by_prefixes(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %scan = qd.simt.inclusive_scan add %x tile(3) : i32
  %a = qd.simt.segmented_reduce add %x heads %h tile(3) : i32
  %r = arith.xori %a, %scan : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Of a predicate a sum is the bits of a mask, whatever scans there are.
// CHECK-LABEL: func.func private @segments_of_a_predicate(
// CHECK-NOT:     {{"(segment-by-prefixes|segment-in-cluster-by-prefixes)"}}
// CHECK:         return
func.func private @segments_of_a_predicate(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %p = arith.cmpi sgt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %scan = qd.simt.inclusive_scan add %one : i32
  %a = qd.simt.segmented_reduce add %one heads %h : i32
  %scan_in_cluster = qd.simt.inclusive_scan add %one tile(3) : i32
  %b = qd.simt.segmented_reduce add %one heads %h tile(3) : i32
  %with_a = arith.xori %a, %scan : i32
  %with_b = arith.xori %b, %scan_in_cluster : i32
  %r = arith.muli %with_a, %with_b : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Sums of floats keep their order: nothing is subtracted from them.
// CHECK-LABEL: func.func private @segments_of_floats(
// CHECK-NOT:     {{"(segment-by-prefixes|segment-in-cluster-by-prefixes)"}}
// CHECK:         qd.simt.segmented_reduce add %{{.*}} heads %{{.*}} : f32
// CHECK:         qd.simt.segmented_reduce add %{{.*}} heads %{{.*}} tile(3) {{.*}}: f32
// CHECK-NOT:     arith.subf
// CHECK:         return
func.func private @segments_of_floats(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0.0 : f32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xf32>
  %h = arith.cmpf olt, %x, %zero : f32
  %a = qd.simt.inclusive_scan add %x : f32
  %b = qd.simt.segmented_reduce add %x heads %h : f32
  %c = qd.simt.inclusive_scan add %x tile(3) : f32
  %d = qd.simt.segmented_reduce add %x heads %h tile(3) : f32
  %ab = arith.mulf %a, %b : f32
  %cd = arith.mulf %c, %d : f32
  %r = arith.mulf %ab, %cd : f32
  memref.store %r, %out[%t] : memref<?xf32>
  return
}

// The sum of one value is as many copies as there are lanes from the head on.
// CHECK-LABEL: func.func private @segment_of_copies(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i32)
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         qd.simt.ballot
// CHECK:         %[[PLACE:.*]] = arith.addi
// CHECK:         arith.muli %[[U]], %[[PLACE]] {qd.why = ["segment-of-copies"{{.*}}]} : i32
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @segment_of_copies(%in: memref<?xi32>, %out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %r = qd.simt.segmented_reduce add %u heads %h : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// In clusters there are as many as from the head, or the cluster's first lane, on.
// CHECK-LABEL: func.func private @segment_of_copies_in_cluster(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i32)
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         qd.simt.ballot
// CHECK:         %[[PLACE:.*]] = arith.addi
// CHECK:         arith.muli %[[U]], %[[PLACE]] {qd.why = ["segment-of-copies-in-cluster"{{.*}}]} : i32
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @segment_of_copies_in_cluster(%in: memref<?xi32>, %out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %r = qd.simt.segmented_reduce add %u heads %h tile(3) : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Values of lanes' own are no copies. Of 64 bits none are counted, as the number of lanes has 32.
// CHECK-LABEL: func.func private @own_values(
// CHECK-NOT:     {{"(segment-of-copies|segment-of-copies-in-cluster)"}}
// CHECK-COUNT-4: arith.subi %{{.*}} {qd.why = ["segment-{{(in-cluster-)?}}by-prefixes"
// CHECK:         return
func.func private @own_values(%in: memref<?xi32>, %out: memref<?xi64>, %u: i64) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %a = qd.simt.segmented_reduce add %x heads %h : i32
  %b = qd.simt.segmented_reduce add %x heads %h tile(3) : i32
  %ab = arith.muli %a, %b : i32
  %c = qd.simt.segmented_reduce add %u heads %h : i64
  %d = qd.simt.segmented_reduce add %u heads %h tile(3) : i64
  %cd = arith.muli %c, %d : i64
  %l = arith.extsi %ab : i32 to i64
  %r = arith.muli %cd, %l : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// Marked lanes of a segment are the bits of a mask from the head to the lane.
// CHECK-LABEL: func.func private @count_in_segment(
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         qd.simt.ballot
// CHECK:         arith.andi
// CHECK:         qd.math.popcnt %{{.*}} {qd.why = ["count-in-segment"{{.*}}]} : i64
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @count_in_segment(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %p = arith.cmpi sgt, %x, %one : i32
  %b = arith.extui %p : i1 to i32
  %r = qd.simt.segmented_reduce add %b heads %h : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Some lane of a segment is marked if a bit from the head to the lane is set.
// CHECK-LABEL: func.func private @any_in_segment(
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         %[[SOME:.*]] = arith.cmpi ne, %{{.*}} : i64
// CHECK:         arith.extui %[[SOME]] {qd.why = ["any-in-segment"{{.*}}]} : i1 to i32
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @any_in_segment(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %p = arith.cmpi sgt, %x, %one : i32
  %b = arith.extui %p : i1 to i32
  %r = qd.simt.segmented_reduce or %b heads %h : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// All lanes of a segment are marked if no bit is missing from the head to the lane.
// CHECK-LABEL: func.func private @all_in_segment(
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         %[[ALL:.*]] = arith.cmpi eq, %{{.*}} : i64
// CHECK:         arith.extui %[[ALL]] {qd.why = ["all-in-segment"{{.*}}]} : i1 to i32
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @all_in_segment(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %p = arith.cmpi sgt, %x, %one : i32
  %b = arith.extui %p : i1 to i32
  %r = qd.simt.segmented_reduce minsi %b heads %h : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// In clusters the range begins at the head, or else at the cluster's first lane.
// CHECK-LABEL: func.func private @count_in_segment_of_cluster(
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         qd.simt.ballot
// CHECK:         qd.math.popcnt %{{.*}} {qd.why = ["count-in-segment-of-cluster"{{.*}}]} : i64
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @count_in_segment_of_cluster(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %p = arith.cmpi sgt, %x, %one : i32
  %b = arith.extui %p : i1 to i32
  %r = qd.simt.segmented_reduce add %b heads %h tile(3) : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Some lane of a segment in a cluster is marked if a bit of that range is set.
// CHECK-LABEL: func.func private @any_in_segment_of_cluster(
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         %[[SOME:.*]] = arith.cmpi ne, %{{.*}} : i64
// CHECK:         arith.extui %[[SOME]] {qd.why = ["any-in-segment-of-cluster"{{.*}}]} : i1 to i32
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @any_in_segment_of_cluster(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %p = arith.cmpi sgt, %x, %one : i32
  %b = arith.extui %p : i1 to i32
  %r = qd.simt.segmented_reduce maxui %b heads %h tile(3) : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// All lanes of a segment in a cluster are marked if no bit of it is missing.
// CHECK-LABEL: func.func private @all_in_segment_of_cluster(
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         %[[ALL:.*]] = arith.cmpi eq, %{{.*}} : i64
// CHECK:         arith.extui %[[ALL]] {qd.why = ["all-in-segment-of-cluster"{{.*}}]} : i1 to i32
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         return
func.func private @all_in_segment_of_cluster(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %p = arith.cmpi sgt, %x, %one : i32
  %b = arith.extui %p : i1 to i32
  %r = qd.simt.segmented_reduce and %b heads %h tile(3) : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Whether an odd number of lanes is marked says neither some nor all.
// CHECK-LABEL: func.func private @parity_in_segment(
// CHECK-NOT:     {{"(any-in-segment|all-in-segment|any-in-segment-of-cluster|all-in-segment-of-cluster)"}}
// CHECK:         qd.simt.segmented_reduce xor
// CHECK:         qd.simt.segmented_reduce xor
// CHECK:         return
func.func private @parity_in_segment(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %p = arith.cmpi sgt, %x, %one : i32
  %b = arith.extui %p : i1 to i32
  %a = qd.simt.segmented_reduce xor %b heads %h : i32
  %c = qd.simt.segmented_reduce xor %b heads %h tile(3) : i32
  %r = arith.muli %a, %c : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// No rule of clusters is of whole subgroups: the size of these is not known.
// CHECK-LABEL: func.func private @whole_segments(
// CHECK-NOT:     {{"(segment-in-cluster-by-prefixes|segment-of-copies-in-cluster|count-in-segment-of-cluster)"}}
// CHECK-NOT:     {{"(any-in-segment-of-cluster|all-in-segment-of-cluster)"}}
// CHECK-NOT:     qd.simt.segmented_reduce
// CHECK:         arith.subi %{{.*}} {qd.why = ["segment-by-prefixes"
// CHECK:         arith.muli %{{.*}} {qd.why = ["segment-of-copies"
// CHECK:         qd.math.popcnt %{{.*}} {qd.why = ["count-in-segment"
// CHECK:         arith.extui %{{.*}} {qd.why = ["any-in-segment"
// CHECK:         arith.extui %{{.*}} {qd.why = ["all-in-segment"
// CHECK:         return
func.func private @whole_segments(%in: memref<?xi32>, %out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %h = arith.cmpi slt, %x, %zero : i32
  %p = arith.cmpi sgt, %x, %one : i32
  %b = arith.extui %p : i1 to i32
  %scan = qd.simt.inclusive_scan add %x : i32
  %sum = qd.simt.segmented_reduce add %x heads %h : i32
  %copies = qd.simt.segmented_reduce add %u heads %h : i32
  %count = qd.simt.segmented_reduce add %b heads %h : i32
  %any = qd.simt.segmented_reduce or %b heads %h : i32
  %all = qd.simt.segmented_reduce and %b heads %h : i32
  %sums = arith.muli %scan, %sum : i32
  %counts = arith.muli %copies, %count : i32
  %votes = arith.muli %any, %all : i32
  %both = arith.muli %sums, %counts : i32
  %r = arith.muli %both, %votes : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}
