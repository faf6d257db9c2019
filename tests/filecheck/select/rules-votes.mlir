// The rules of votes, of counts and of lanes that hold the same: what each leads to, and what its guard forbids. Where a
// form is the target's own, one target takes a rule that another one does not.

// RUN: qd-opt %s --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: qd-opt %s --qd-select-lowering=target=amdgpu:gfx1100,wave=32 | FileCheck %s --check-prefixes=CHECK,AMD

// Some lane votes if some bit of the mask that is there is set.
// CHECK-LABEL: func.func private @any_is_ballot(
// CHECK:         %[[MASK:.*]] = qd.simt.ballot
// CHECK-NOT:     qd.simt.any
// CHECK:         arith.cmpi ne, %[[MASK]], %{{.*}} {qd.why = ["any-is-ballot"]} : i64
// CHECK-NOT:     qd.simt.any
// CHECK:         return
func.func private @any_is_ballot(%in: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %mask = qd.simt.ballot %p
  %any = qd.simt.any %p
  %l = arith.extui %any : i1 to i64
  %r = arith.muli %l, %mask : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// All lanes vote if none does not.
// CHECK-LABEL: func.func private @all_is_not_any(
// CHECK-NOT:     qd.simt.all
// CHECK:         arith.xori %{{.*}} {qd.why = ["all-is-not-any"{{.*}}]} : i1
// CHECK-NOT:     qd.simt.all
// CHECK:         return
func.func private @all_is_not_any(%in: memref<?xi32>, %out: memref<?xi1>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %r = qd.simt.all %p tile(2)
  memref.store %r, %out[%t] : memref<?xi1>
  return
}

// One or zero by a predicate is its bit: of the two one is made.
// CHECK-LABEL: func.func private @one_or_none(
// CHECK-SAME:    rules = ["one-or-none"]
// CHECK:         %[[BIT:.*]] = arith.{{select|extui}}
// CHECK-NOT:     arith.{{select|extui}}
// CHECK:         qd.simt.reduce_all xor %[[BIT]]
// CHECK:         arith.muli %{{.*}}, %[[BIT]]
// CHECK:         return
func.func private @one_or_none(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %bit = arith.extui %p : i1 to i32
  %number = arith.select %p, %one, %zero : i32
  %odd = qd.simt.reduce_all xor %number : i32
  %r = arith.muli %odd, %bit : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// A bit that is flipped twice is as it was.
// CHECK-LABEL: func.func private @not_of_not(
// CHECK-SAME:    rules = ["not-of-not"]
// CHECK:         %[[P:.*]] = arith.cmpi
// CHECK-NOT:     arith.xori
// CHECK:         qd.simt.any %[[P]]
// CHECK:         return
func.func private @not_of_not(%in: memref<?xi32>, %out: memref<?xi1>) attributes {qd.threads = 64 : i64} {
  %true = arith.constant true
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %n = arith.xori %p, %true : i1
  %m = arith.xori %n, %true : i1
  %r = qd.simt.any %m
  memref.store %r, %out[%t] : memref<?xi1>
  return
}

// Where each lane votes alike, some do if one does.
// CHECK-LABEL: func.func private @any_of_uniform(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i1)
// CHECK-SAME:    rules = ["any-of-uniform"]
// CHECK-NOT:     qd.simt.any
// CHECK:         memref.store %[[U]]
func.func private @any_of_uniform(%out: memref<?xi1>, %u: i1) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %r = qd.simt.any %u tile(3)
  memref.store %r, %out[%t] : memref<?xi1>
  return
}

// And all do.
// CHECK-LABEL: func.func private @all_of_uniform(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: i1)
// CHECK-SAME:    rules = ["all-of-uniform"]
// CHECK-NOT:     qd.simt.all
// CHECK:         memref.store %[[U]]
func.func private @all_of_uniform(%out: memref<?xi1>, %u: i1) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %r = qd.simt.all %u
  memref.store %r, %out[%t] : memref<?xi1>
  return
}

// An integer is equal to itself.
// CHECK-LABEL: func.func private @equal_if_uniform(
// CHECK-SAME:    rules = ["equal-if-uniform"]
// CHECK-NOT:     qd.simt.all_equal
// CHECK:         %[[TRUE:.*]] = arith.constant {{.*}}true
// CHECK:         memref.store %[[TRUE]]
func.func private @equal_if_uniform(%out: memref<?xi1>, %u: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %r = qd.simt.all_equal %u : i32
  memref.store %r, %out[%t] : memref<?xi1>
  return
}

// Predicates of lanes' own are voted on; and a float may be a NaN, which is not equal to itself.
// CHECK-LABEL: func.func private @own_votes(
// CHECK-NOT:     {{"(any-of-uniform|all-of-uniform|equal-if-uniform)"}}
// CHECK:         qd.simt.any %
// CHECK:         qd.simt.all %
// CHECK:         qd.simt.all_equal %{{.*}} : f32
// CHECK:         return
func.func private @own_votes(%in: memref<?xi32>, %out: memref<?xi1>, %u: f32) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %ten = arith.constant 10 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %q = arith.cmpi slt, %x, %ten : i32
  %a = qd.simt.any %p
  %b = qd.simt.all %q
  %c = qd.simt.all_equal %u : f32
  %d = qd.simt.all_equal %x : i32
  %ab = arith.xori %a, %b : i1
  %cd = arith.xori %c, %d : i1
  %r = arith.xori %ab, %cd : i1
  memref.store %r, %out[%t] : memref<?xi1>
  return
}

// A count is a sum of ones, and AMD's targets sum up clusters by DPP.
// CHECK-LABEL: func.func private @count_is_sum(
// AMD-NOT:       qd.simt.count_true
// AMD:           %[[ONE:.*]] = arith.extui
// AMD:           qd.simt.reduce_all add %[[ONE]] tile(3) {{.*}}qd.why = ["count-is-sum"]
// CHECK:         return
func.func private @count_is_sum(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %r = qd.simt.count_true %p tile(3)
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// The largest of bits is set if some lane's is.
// CHECK-LABEL: func.func private @or_of_bits(
// CHECK:         %[[ANY:.*]] = arith.cmpi ne
// CHECK:         arith.extui %[[ANY]] {qd.why = ["or-of-bits"{{.*}}]} : i1 to i32
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @or_of_bits(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %r = qd.simt.reduce_all maxui %one : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// The smallest of bits is set if all are.
// CHECK-LABEL: func.func private @and_of_bits(
// CHECK:         %[[ALL:.*]] = qd.simt.all
// CHECK:         arith.extui %[[ALL]] {qd.why = ["and-of-bits"]} : i1 to i32
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @and_of_bits(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %r = qd.simt.reduce_all minsi %one : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Whether the number of set bits is odd says neither.
// CHECK-LABEL: func.func private @parity(
// CHECK-NOT:     {{"(or-of-bits|and-of-bits)"}}
// CHECK:         qd.simt.reduce_all xor
// CHECK:         return
func.func private @parity(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %r = qd.simt.reduce_all xor %one : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Some lane has one of two if some lane has the first, or some the second.
// CHECK-LABEL: func.func private @any_of_or(
// NVIDIA:        %[[OR:.*]] = arith.ori
// NVIDIA:        qd.simt.ballot %[[OR]]
// NVIDIA:        arith.cmpi ne, {{.*}}qd.why = [{{.*}}"any-of-or"]
// NVIDIA-NOT:    qd.simt.{{any|ballot}}
// CHECK:         return
func.func private @any_of_or(%in: memref<?xi32>, %out: memref<?xi1>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %ten = arith.constant 10 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %q = arith.cmpi slt, %x, %ten : i32
  %a = qd.simt.any %p
  %b = qd.simt.any %q
  %r = arith.ori %a, %b : i1
  memref.store %r, %out[%t] : memref<?xi1>
  return
}

// Every lane has both of two if every lane has the first, and every one the second.
// CHECK-LABEL: func.func private @all_of_and(
// CHECK:         %[[AND:.*]] = arith.andi
// CHECK:         qd.simt.all %[[AND]] {{.*}}qd.why = ["all-of-and"]
// CHECK-NOT:     qd.simt.all
// CHECK:         return
func.func private @all_of_and(%in: memref<?xi32>, %out: memref<?xi1>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %ten = arith.constant 10 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %q = arith.cmpi slt, %x, %ten : i32
  %a = qd.simt.all %p
  %b = qd.simt.all %q
  %r = arith.andi %a, %b : i1
  memref.store %r, %out[%t] : memref<?xi1>
  return
}

// A lane's peers by one bit are those that vote as it does.
// CHECK-LABEL: func.func private @match_of_bit(
// CHECK-NOT:     qd.simt.match_any
// CHECK:         %[[MASK:.*]] = qd.simt.ballot %[[P:.*]] {
// CHECK-NOT:     qd.simt.ballot
// CHECK:         arith.select %[[P]], %[[MASK]], %{{.*}} {qd.why = ["match-of-bit"{{.*}}]} : i64
// CHECK-NOT:     qd.simt.match_any
// CHECK:         return
func.func private @match_of_bit(%in: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %one = arith.extui %p : i1 to i32
  %r = qd.simt.match_any %one bits(1) : i32
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// Where each lane holds the same, all are peers.
// CHECK-LABEL: func.func private @match_of_uniform(
// CHECK-SAME:    rules = ["match-of-uniform"]
// CHECK-NOT:     qd.simt.match_any
// CHECK:         arith.shrui %{{.*}} {qd.why = ["match-of-uniform"]} : i64
// CHECK:         return
func.func private @match_of_uniform(%out: memref<?xi64>, %u: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %r = qd.simt.match_any %u bits(8) : i32
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// Of a match that is there, all values are equal if every lane is a peer.
// CHECK-LABEL: func.func private @equal_is_match(
// CHECK:         %[[PEERS:.*]] = qd.simt.match_any
// CHECK-NOT:     qd.simt.all_equal
// CHECK:         arith.cmpi eq, %[[PEERS]], %{{.*}} {qd.why = ["equal-is-match"]} : i64
// CHECK-NOT:     qd.simt.all_equal
// CHECK:         return
func.func private @equal_is_match(%in: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %peers = qd.simt.match_any %x : i32
  %equal = qd.simt.all_equal %x : i32
  %l = arith.extui %equal : i1 to i64
  %r = arith.muli %l, %peers : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// Of the first value that is there, all are equal if each equals it.
// CHECK-LABEL: func.func private @equal_is_all(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[FIRST:.*]] = qd.simt.broadcast_first %[[X]]
// CHECK-NOT:     qd.simt.all_equal
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[X]], %[[FIRST]]
// CHECK:         qd.simt.all %[[SAME]] {{.*}}qd.why = ["equal-is-all"]
// CHECK-NOT:     qd.simt.all_equal
// CHECK:         return
func.func private @equal_is_all(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %first = qd.simt.broadcast_first %x : i32
  %equal = qd.simt.all_equal %x : i32
  %e = arith.extui %equal : i1 to i32
  %r = arith.muli %e, %first : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Values of lanes' own are matched; and a float may be a NaN, which is a peer of itself and equal to nothing.
// CHECK-LABEL: func.func private @own_matches(
// CHECK-NOT:     {{"(match-of-uniform|equal-is-match|equal-is-all)"}}
// CHECK:         qd.simt.match_any
// CHECK:         qd.simt.broadcast_first
// CHECK:         qd.simt.all_equal %{{.*}} : f32
// CHECK:         return
func.func private @own_matches(%in: memref<?xf32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xf32>
  %bits = arith.bitcast %x : f32 to i32
  %peers = qd.simt.match_any %bits : i32
  %first = qd.simt.broadcast_first %x : f32
  %equal = qd.simt.all_equal %x : f32
  %e = arith.select %equal, %first, %x : f32
  %fi = arith.fptosi %e : f32 to i64
  %r = arith.muli %peers, %fi : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}
