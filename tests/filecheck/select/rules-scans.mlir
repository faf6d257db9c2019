// The rules of reductions and scans of a subgroup: what each leads to, and what its guard forbids. Floats are combined in
// their order alone.

// RUN: qd-opt %s --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s
// RUN: qd-opt %s --qd-select-lowering=target=amdgpu:gfx1100,wave=32 | FileCheck %s
// RUN: qd-opt %s --qd-select-lowering='target=cpu,wave=4 costs=%S/Inputs/dear-inclusive.json' | FileCheck %s --check-prefix=DEAR

// What lane 0 has of a reduction is read by all: that is a reduction to every lane, in the same order, and so of
// floats, too.
// CHECK-LABEL: func.func private @first_of_reduce(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         qd.simt.reduce_all add %[[X]] tile({{.}}) {qd.why = ["first-of-reduce"]} : f32
// CHECK-NOT:     qd.simt.broadcast
// CHECK:         return
func.func private @first_of_reduce(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xf32>
  %s = qd.simt.reduce add %x : f32
  %r = qd.simt.broadcast_first %s : f32
  memref.store %r, %out[%t] : memref<?xf32>
  return
}

// The same where lane 0 is read by a shuffle.
// CHECK-LABEL: func.func private @zeroth_of_reduce(
// CHECK:         qd.simt.reduce_all add %{{.*}} tile({{.}}) {qd.why = ["first-of-reduce"]} : f32
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         return
func.func private @zeroth_of_reduce(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xf32>
  %s = qd.simt.reduce add %x : f32
  %r = qd.simt.shuffle idx %s, %zero : f32
  memref.store %r, %out[%t] : memref<?xf32>
  return
}

// The last lane of an inclusive scan has the reduction.
// CHECK-LABEL: func.func private @last_of_scan(
// CHECK-NOT:     qd.simt.inclusive_scan
// CHECK:         qd.simt.reduce_all maxsi %{{.*}}qd.why = ["last-of-scan"]} : i32
// CHECK-NOT:     qd.simt.shuffle
// CHECK:         return
func.func private @last_of_scan(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %size = qd.simt.subgroup_size
  %last = arith.subi %size, %one : i32
  %scan = qd.simt.inclusive_scan maxsi %x : i32
  %r = qd.simt.shuffle idx %scan, %last : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Of floats the last prefix may differ from the tree of a reduction.
// CHECK-LABEL: func.func private @last_of_floats(
// CHECK-NOT:     "last-of-scan"
// CHECK:         %[[SCAN:.*]] = qd.simt.inclusive_scan add %{{.*}} : f32
// CHECK:         qd.simt.broadcast %[[SCAN]]
// CHECK:         return
func.func private @last_of_floats(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %one = arith.constant 1 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xf32>
  %size = qd.simt.subgroup_size
  %last = arith.subi %size, %one : i32
  %scan = qd.simt.inclusive_scan add %x : f32
  %r = qd.simt.broadcast %scan, %last : f32
  memref.store %r, %out[%t] : memref<?xf32>
  return
}

// A value combined with itself is itself.
// CHECK-LABEL: func.func private @idempotent_of_uniform(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i32)
// CHECK-SAME:    rules = ["idempotent-of-uniform"]
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         memref.store %[[U]]
func.func private @idempotent_of_uniform(%out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %r = qd.simt.reduce_all maxsi %u : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// So is each prefix of one value.
// CHECK-LABEL: func.func private @idempotent_scan_of_uniform(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i32)
// CHECK-SAME:    rules = ["idempotent-scan-of-uniform"]
// CHECK-NOT:     qd.simt.inclusive_scan
// CHECK:         memref.store %[[U]]
func.func private @idempotent_scan_of_uniform(%out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %r = qd.simt.inclusive_scan and %u : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// A sum of one value is as many copies as there are lanes.
// CHECK-LABEL: func.func private @sum_of_uniform(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i32)
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         arith.muli %[[U]], %{{.*}} {qd.why = ["sum-of-uniform"]} : i32
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @sum_of_uniform(%out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %r = qd.simt.reduce_all add %u : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// The lanes below a lane are as many as its number says.
// CHECK-LABEL: func.func private @exclusive_of_uniform(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i32)
// CHECK-NOT:     qd.simt.exclusive_scan
// CHECK:         %[[LANE:.*]] = qd.simt.lane_id
// CHECK:         arith.muli %[[U]], %[[LANE]] {qd.why = ["exclusive-of-uniform"]} : i32
// CHECK-NOT:     qd.simt.exclusive_scan
// CHECK:         return
func.func private @exclusive_of_uniform(%out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %r = qd.simt.exclusive_scan add %u : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// The lanes up to a lane are one more.
// CHECK-LABEL: func.func private @inclusive_of_uniform(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i32)
// CHECK-NOT:     qd.simt.inclusive_scan
// CHECK:         %[[LANE:.*]] = qd.simt.lane_id
// CHECK:         %[[COUNT:.*]] = arith.addi %[[LANE]], %{{.*}} : i32
// CHECK:         arith.muli %[[U]], %[[COUNT]] {qd.why = ["inclusive-of-uniform"{{.*}}]} : i32
// CHECK-NOT:     qd.simt.inclusive_scan
// CHECK:         return
func.func private @inclusive_of_uniform(%out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %r = qd.simt.inclusive_scan add %u : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// By a kind that is not idempotent, a value combined with itself is another one.
// CHECK-LABEL: func.func private @other_kinds_of_uniform(
// CHECK-NOT:     {{"(idempotent-of-uniform|idempotent-scan-of-uniform|sum-of-uniform|exclusive-of-uniform)"}}
// CHECK-NOT:     "inclusive-of-uniform"
// CHECK:         qd.simt.inclusive_scan xor
// CHECK:         qd.simt.inclusive_scan mul
// CHECK:         return
func.func private @other_kinds_of_uniform(%out: memref<?xi32>, %u: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %a = qd.simt.reduce_all xor %u : i32
  %b = qd.simt.inclusive_scan xor %u : i32
  %c = qd.simt.inclusive_scan mul %u : i32
  %ab = arith.addi %a, %b : i32
  %r = arith.addi %ab, %c : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// What lanes have of their own is combined. A sum of 64 bits is one, too: the number of lanes has 32.
// CHECK-LABEL: func.func private @own_values(
// CHECK-NOT:     {{"(idempotent-of-uniform|idempotent-scan-of-uniform|sum-of-uniform|exclusive-of-uniform)"}}
// CHECK-NOT:     "inclusive-of-uniform"
// CHECK:         qd.simt.inclusive_scan maxsi %{{.*}} : i32
// CHECK:         qd.simt.inclusive_scan add %{{.*}} : i32
// CHECK:         qd.simt.inclusive_scan add %{{.*}} : i64
// CHECK:         return
func.func private @own_values(%in: memref<?xi32>, %out: memref<?xi64>, %u: i64) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %a = qd.simt.reduce_all maxsi %x : i32
  %b = qd.simt.inclusive_scan maxsi %x : i32
  %c = qd.simt.reduce_all add %x : i32
  %d = qd.simt.exclusive_scan add %x : i32
  %e = qd.simt.inclusive_scan add %x : i32
  %ab = arith.muli %a, %b : i32
  %cd = arith.muli %c, %d : i32
  %abe = arith.muli %ab, %e : i32
  %abcde = arith.muli %abe, %cd : i32
  %l = arith.extsi %abcde : i32 to i64
  %g = qd.simt.reduce_all add %u : i64
  %h = qd.simt.exclusive_scan add %u : i64
  %i = qd.simt.inclusive_scan add %u : i64
  %gh = arith.muli %g, %h : i64
  %ghi = arith.muli %gh, %i : i64
  %r = arith.muli %ghi, %l : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// An exclusive prefix is the inclusive one that is there, less the own value.
// CHECK-LABEL: func.func private @exclusive_is_inclusive(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[SCAN:.*]] = qd.simt.inclusive_scan add %[[X]]
// CHECK-NOT:     qd.simt.exclusive_scan
// CHECK:         arith.subi %[[SCAN]], %[[X]] {qd.why = ["exclusive-is-inclusive"{{.*}}]} : i32
// CHECK-NOT:     qd.simt.exclusive_scan
// CHECK:         return
func.func private @exclusive_is_inclusive(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %a = qd.simt.inclusive_scan add %x : i32
  %b = qd.simt.exclusive_scan add %x : i32
  %r = arith.muli %a, %b : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Of a predicate it is the bits of a mask, whatever scans there are.
// CHECK-LABEL: func.func private @exclusive_of_a_predicate(
// CHECK-NOT:     "exclusive-is-inclusive"
// CHECK:         return
func.func private @exclusive_of_a_predicate(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi slt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %a = qd.simt.inclusive_scan add %one : i32
  %b = qd.simt.exclusive_scan add %one : i32
  %r = arith.muli %a, %b : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Where inclusive scans are dear, one is the exclusive one, and the own value comes on top.
// CHECK-LABEL: func.func private @inclusive_is_exclusive(
// DEAR-LABEL:    func.func private @inclusive_is_exclusive(
// DEAR:          %[[X:.*]] = memref.load
// DEAR-NOT:      qd.simt.inclusive_scan
// DEAR:          %[[SCAN:.*]] = qd.simt.exclusive_scan add %[[X]]
// DEAR:          arith.addi %[[SCAN]], %[[X]] {qd.why = ["inclusive-is-exclusive"]} : i32
// DEAR-NOT:      qd.simt.inclusive_scan
// DEAR:          return
func.func private @inclusive_is_exclusive(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %r = qd.simt.inclusive_scan add %x : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Floats have no inverses: what is added and subtracted again is not what was there.
// CHECK-LABEL: func.func private @scans_of_floats(
// CHECK-NOT:     {{"(exclusive-is-inclusive|inclusive-is-exclusive)"}}
// CHECK:         qd.simt.inclusive_scan add
// CHECK:         qd.simt.exclusive_scan add
// CHECK:         return
// DEAR-LABEL:    func.func private @scans_of_floats(
// DEAR-NOT:      "inclusive-is-exclusive"
// DEAR:          qd.simt.inclusive_scan add
// DEAR:          return
func.func private @scans_of_floats(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xf32>
  %a = qd.simt.inclusive_scan add %x : f32
  %b = qd.simt.exclusive_scan add %x : f32
  %r = arith.mulf %a, %b : f32
  memref.store %r, %out[%t] : memref<?xf32>
  return
}

// Sums of floats keep their order.
// CHECK-LABEL: func.func private @sums_of_floats(
// CHECK-NOT:     "sum-of-sums"
// CHECK-COUNT-2: qd.simt.reduce_all add %{{.*}} : f32
// CHECK:         return
func.func private @sums_of_floats(%in: memref<?xf32>, %out: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xf32>
  %y = memref.load %out[%t] : memref<?xf32>
  %a = qd.simt.reduce_all add %x : f32
  %b = qd.simt.reduce_all add %y : f32
  %r = arith.addf %a, %b : f32
  memref.store %r, %out[%t] : memref<?xf32>
  return
}

// Two sums that are added are one.
// CHECK-LABEL: func.func private @sum_of_sums(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         %[[XY:.*]] = arith.addi %[[X]], %[[Y]] : i32
// CHECK:         qd.simt.reduce_all add %[[XY]] tile({{.}}) {{.*}}qd.why = ["sum-of-sums"]
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @sum_of_sums(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %y = memref.load %out[%t] : memref<?xi32>
  %a = qd.simt.reduce_all add %x : i32
  %b = qd.simt.reduce_all add %y : i32
  %r = arith.addi %a, %b : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// The bits that all lanes have of each of two are those that all have of both.
// CHECK-LABEL: func.func private @and_of_ands(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         %[[XY:.*]] = arith.andi %[[X]], %[[Y]] : i32
// CHECK:         qd.simt.reduce_all and %[[XY]] tile({{.}}) {{.*}}qd.why = ["and-of-ands"]
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @and_of_ands(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %y = memref.load %out[%t] : memref<?xi32>
  %a = qd.simt.reduce_all and %x : i32
  %b = qd.simt.reduce_all and %y : i32
  %r = arith.andi %a, %b : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// The bits that some lane has of one or of the other are those that some has of either.
// CHECK-LABEL: func.func private @or_of_ors(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         %[[XY:.*]] = arith.ori %[[X]], %[[Y]] : i32
// CHECK:         qd.simt.reduce_all or %[[XY]] tile({{.}}) {{.*}}qd.why = ["or-of-ors"]
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @or_of_ors(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %y = memref.load %out[%t] : memref<?xi32>
  %a = qd.simt.reduce_all or %x : i32
  %b = qd.simt.reduce_all or %y : i32
  %r = arith.ori %a, %b : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Two parities by bit are one of both.
// CHECK-LABEL: func.func private @xor_of_xors(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         %[[XY:.*]] = arith.xori %[[X]], %[[Y]] : i32
// CHECK:         qd.simt.reduce_all xor %[[XY]] tile({{.}}) {{.*}}qd.why = ["xor-of-xors"]
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @xor_of_xors(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %y = memref.load %out[%t] : memref<?xi32>
  %a = qd.simt.reduce_all xor %x : i32
  %b = qd.simt.reduce_all xor %y : i32
  %r = arith.xori %a, %b : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Reductions of predicates, which are no integers here, stay.
// CHECK-LABEL: func.func private @two_of_others(
// CHECK-NOT:     {{"(sum-of-sums|and-of-ands|or-of-ors|xor-of-xors)"}}
// CHECK-COUNT-2: qd.simt.reduce_all and %{{.*}} : i1
// CHECK-COUNT-2: qd.simt.reduce_all or %{{.*}} : i1
// CHECK-COUNT-2: qd.simt.reduce_all xor %{{.*}} : i1
// CHECK-COUNT-2: qd.simt.reduce_all add %{{.*}} : i1
// CHECK:         return
func.func private @two_of_others(%in: memref<?xi32>, %out: memref<?xi1>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %ten = arith.constant 10 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %q = arith.cmpi slt, %x, %ten : i32
  %a = qd.simt.reduce_all and %p : i1
  %b = qd.simt.reduce_all and %q : i1
  %ab = arith.andi %a, %b : i1
  %c = qd.simt.reduce_all or %p : i1
  %d = qd.simt.reduce_all or %q : i1
  %cd = arith.ori %c, %d : i1
  %e = qd.simt.reduce_all xor %p : i1
  %f = qd.simt.reduce_all xor %q : i1
  %ef = arith.xori %e, %f : i1
  %g = qd.simt.reduce_all add %p : i1
  %h = qd.simt.reduce_all add %q : i1
  %gh = arith.addi %g, %h : i1
  %abcd = arith.xori %ab, %cd : i1
  %efgh = arith.xori %ef, %gh : i1
  %r = arith.xori %abcd, %efgh : i1
  memref.store %r, %out[%t] : memref<?xi1>
  return
}

// A factor that is the same in all lanes is one of their sum.
// CHECK-LABEL: func.func private @uniform_factor(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i64)
// CHECK:         %[[X:.*]] = memref.load
// CHECK-NOT:     arith.muli
// CHECK:         %[[SUM:.*]] = qd.simt.reduce_all add %[[X]]
// CHECK:         arith.muli %[[SUM]], %[[U]] {qd.why = ["uniform-factor"]} : i64
// CHECK:         return
func.func private @uniform_factor(%in: memref<?xi64>, %out: memref<?xi64>, %u: i64) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi64>
  %ux = arith.muli %x, %u : i64
  %r = qd.simt.reduce_all add %ux : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// Factors of lanes of their own are not.
// CHECK-LABEL: func.func private @own_factors(
// CHECK-NOT:     "uniform-factor"
// CHECK:         %[[XY:.*]] = arith.muli
// CHECK:         qd.simt.reduce_all add %[[XY]]
// CHECK:         return
func.func private @own_factors(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %y = memref.load %out[%t] : memref<?xi32>
  %xy = arith.muli %x, %y : i32
  %a = qd.simt.reduce_all add %x : i32
  %b = qd.simt.reduce_all add %xy : i32
  %r = arith.xori %a, %b : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}
