// The rules of values of 64 bits of which 32 are all that there is, or all that anybody asks for: a word moves, or is summed
// up, instead of two. Where a high bit decides, nothing changes.

// RUN: qd-opt %s --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s
// RUN: qd-opt %s --qd-select-lowering=target=amdgpu:gfx1100,wave=32 | FileCheck %s

// The low word of an extended word is that word: of a sum of such, the words are summed up.
// CHECK-LABEL: func.func private @low_of_signed(
// CHECK:         %[[X:.*]] = memref.load
// CHECK-NOT:     arith.extsi
// CHECK:         qd.simt.reduce_all add %[[X]] tile({{.}}) {{.*}}qd.why = ["low-of-reduce", "low-of-signed"]{{.*}} : i32
// CHECK:         return
func.func private @low_of_signed(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %l = arith.extsi %x : i32 to i64
  %s = qd.simt.reduce_all add %l : i64
  %r = arith.trunci %s : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Likewise where it is extended by zeros.
// CHECK-LABEL: func.func private @low_of_unsigned(
// CHECK:         %[[X:.*]] = memref.load
// CHECK-NOT:     arith.extui
// CHECK:         qd.simt.reduce_all add %[[X]] tile({{.}}) {{.*}}qd.why = ["low-of-reduce", "low-of-unsigned"]{{.*}} : i32
// CHECK:         return
func.func private @low_of_unsigned(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %l = arith.extui %x : i32 to i64
  %s = qd.simt.reduce_all add %l : i64
  %r = arith.trunci %s : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// A predicate is no word: it stays extended, and its low word is not the predicate.
// CHECK-LABEL: func.func private @low_of_predicate(
// CHECK-NOT:     "low-of-unsigned"
// CHECK:         arith.extui %{{.*}} : i1 to
// CHECK:         qd.simt.reduce_all xor %{{.*}} : i32
// CHECK:         return
func.func private @low_of_predicate(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %l = arith.extui %p : i1 to i64
  %s = qd.simt.reduce_all xor %l : i64
  %r = arith.trunci %s : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// No high bit of a product reaches a low one: the low word of a reduction is the reduction of low words.
// CHECK-LABEL: func.func private @low_of_reduce(
// CHECK:         %[[WORD:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK:         qd.simt.reduce_all mul %[[WORD]] tile({{.}}) {{.*}}qd.why = ["low-of-reduce"]{{.*}} : i32
// CHECK-NOT:     arith.trunci
// CHECK:         return
func.func private @low_of_reduce(%in: memref<?xi64>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi64>
  %s = qd.simt.reduce_all mul %x : i64
  %r = arith.trunci %s : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// So it is of an inclusive scan.
// CHECK-LABEL: func.func private @low_of_inclusive(
// CHECK-SAME:    rules = ["low-of-inclusive"]
// CHECK:         %[[WORD:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK:         qd.simt.inclusive_scan xor %[[WORD]] {{.*}}: i32
// CHECK-NOT:     arith.trunci
// CHECK:         return
func.func private @low_of_inclusive(%in: memref<?xi64>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi64>
  %s = qd.simt.inclusive_scan xor %x : i64
  %r = arith.trunci %s : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// And of an exclusive one.
// CHECK-LABEL: func.func private @low_of_exclusive(
// CHECK-SAME:    rules = ["low-of-exclusive"]
// CHECK:         %[[WORD:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK:         qd.simt.exclusive_scan xor %[[WORD]] {{.*}}: i32
// CHECK-NOT:     arith.trunci
// CHECK:         return
func.func private @low_of_exclusive(%in: memref<?xi64>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi64>
  %s = qd.simt.exclusive_scan xor %x : i64
  %r = arith.trunci %s : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// Which value is the largest is for the high bits to say.
// CHECK-LABEL: func.func private @low_of_maximum(
// CHECK-NOT:     {{"(low-of-reduce|low-of-inclusive|low-of-exclusive)"}}
// CHECK:         %[[A:.*]] = qd.simt.inclusive_scan maxsi %{{.*}} : i64
// CHECK:         arith.trunci %[[A]]
// CHECK:         %[[B:.*]] = qd.simt.exclusive_scan maxsi %{{.*}} : i64
// CHECK:         arith.trunci %[[B]]
// CHECK:         arith.trunci %{{.*}} : i64 to i32
// CHECK:         return
func.func private @low_of_maximum(%in: memref<?xi64>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi64>
  %a = qd.simt.inclusive_scan maxsi %x : i64
  %al = arith.trunci %a : i64 to i32
  %b = qd.simt.exclusive_scan maxsi %x : i64
  %bl = arith.trunci %b : i64 to i32
  %c = qd.simt.reduce_all maxsi %x : i64
  %cl = arith.trunci %c : i64 to i32
  %ab = arith.muli %al, %bl : i32
  %r = arith.muli %ab, %cl : i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// The words of a value move alike: the low one by itself, by a mask.
// CHECK-LABEL: func.func private @low_of_xor(
// CHECK:         %[[WORD:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK:         qd.simt.shuffle xor %[[WORD]], %{{.*}}qd.why = ["low-of-xor"]} : i32
// CHECK-NOT:     arith.trunci
// CHECK:         return
func.func private @low_of_xor(%in: memref<?xi64>, %out: memref<?xi32>, %lane: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi64>
  %s = qd.simt.shuffle xor %x, %lane : i64
  %r = arith.trunci %s : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// From one lane.
// CHECK-LABEL: func.func private @low_of_broadcast(
// CHECK:         %[[WORD:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK:         qd.simt.broadcast %[[WORD]], %{{.*}}qd.why = ["low-of-broadcast"]} : i32
// CHECK-NOT:     arith.trunci
// CHECK:         return
func.func private @low_of_broadcast(%in: memref<?xi64>, %out: memref<?xi32>, %lane: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi64>
  %s = qd.simt.broadcast %x, %lane : i64
  %r = arith.trunci %s : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// From the first one.
// CHECK-LABEL: func.func private @low_of_first(
// CHECK:         %[[WORD:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK:         qd.simt.broadcast_first %[[WORD]] {{.*}}qd.why = ["low-of-first"]} : i32
// CHECK-NOT:     arith.trunci
// CHECK:         return
func.func private @low_of_first(%in: memref<?xi64>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi64>
  %s = qd.simt.broadcast_first %x : i64
  %r = arith.trunci %s : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// By a mask of each lane's own the value moves as a whole.
// CHECK-LABEL: func.func private @low_by_own_masks(
// CHECK-NOT:     "low-of-xor"
// CHECK:         %[[MOVED:.*]] = qd.simt.shuffle xor %{{.*}} : i64
// CHECK:         arith.trunci %[[MOVED]] : i64 to i32
// CHECK:         return
func.func private @low_by_own_masks(%in: memref<?xi64>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi64>
  %own = arith.trunci %x : i64 to i32
  %s = qd.simt.shuffle xor %x, %own : i64
  %r = arith.trunci %s : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// The high word is copies of the highest bit: it is made of the low one behind the move, which is one from a lane of
// each one's own.
// CHECK-LABEL: func.func private @idx_of_signed(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[MOVED:.*]] = qd.simt.shuffle idx %[[X]], %{{.*}}: i32
// CHECK:         arith.extsi %[[MOVED]] {{.*}}qd.why = ["idx-of-signed"]{{.*}} : i32 to i64
// CHECK-NOT:     qd.simt
// CHECK:         return
func.func private @idx_of_signed(%in: memref<?xi32>, %out: memref<?xi64>, %lanes: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %own = memref.load %lanes[%t] : memref<?xi32>
  %l = arith.extsi %x : i32 to i64
  %r = qd.simt.shuffle idx %l, %own : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// The same of a move by a mask.
// CHECK-LABEL: func.func private @xor_of_signed(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[MOVED:.*]] = qd.simt.shuffle xor %[[X]], %{{.*}}: i32
// CHECK:         arith.extsi %[[MOVED]] {{.*}}qd.why = ["xor-of-signed"]{{.*}} : i32 to i64
// CHECK-NOT:     qd.simt
// CHECK:         return
func.func private @xor_of_signed(%in: memref<?xi32>, %out: memref<?xi64>, %lane: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %l = arith.extsi %x : i32 to i64
  %r = qd.simt.shuffle xor %l, %lane : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// Of one from the same lane.
// CHECK-LABEL: func.func private @broadcast_of_signed(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[MOVED:.*]] = qd.simt.broadcast %[[X]], %{{.*}}: i32
// CHECK:         arith.extsi %[[MOVED]] {{.*}}qd.why = ["broadcast-of-signed"]{{.*}} : i32 to i64
// CHECK-NOT:     qd.simt
// CHECK:         return
func.func private @broadcast_of_signed(%in: memref<?xi32>, %out: memref<?xi64>, %lane: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %l = arith.extsi %x : i32 to i64
  %r = qd.simt.broadcast %l, %lane : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// Of one from the first.
// CHECK-LABEL: func.func private @first_of_signed(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[MOVED:.*]] = qd.simt.broadcast_first %[[X]] {{.*}}: i32
// CHECK:         arith.extsi %[[MOVED]] {{.*}}qd.why = ["first-of-signed"]{{.*}} : i32 to i64
// CHECK-NOT:     qd.simt
// CHECK:         return
func.func private @first_of_signed(%in: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %l = arith.extsi %x : i32 to i64
  %r = qd.simt.broadcast_first %l : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// The high word is zeros: it is made of the low one behind the move, which is one from a lane of each one's own.
// CHECK-LABEL: func.func private @idx_of_unsigned(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[MOVED:.*]] = qd.simt.shuffle idx %[[X]], %{{.*}}: i32
// CHECK:         arith.extui %[[MOVED]] {{.*}}qd.why = ["idx-of-unsigned"]{{.*}} : i32 to i64
// CHECK-NOT:     qd.simt
// CHECK:         return
func.func private @idx_of_unsigned(%in: memref<?xi32>, %out: memref<?xi64>, %lanes: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %own = memref.load %lanes[%t] : memref<?xi32>
  %l = arith.extui %x : i32 to i64
  %r = qd.simt.shuffle idx %l, %own : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// The same of a move by a mask.
// CHECK-LABEL: func.func private @xor_of_unsigned(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[MOVED:.*]] = qd.simt.shuffle xor %[[X]], %{{.*}}: i32
// CHECK:         arith.extui %[[MOVED]] {{.*}}qd.why = ["xor-of-unsigned"]{{.*}} : i32 to i64
// CHECK-NOT:     qd.simt
// CHECK:         return
func.func private @xor_of_unsigned(%in: memref<?xi32>, %out: memref<?xi64>, %lane: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %l = arith.extui %x : i32 to i64
  %r = qd.simt.shuffle xor %l, %lane : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// Of one from the same lane.
// CHECK-LABEL: func.func private @broadcast_of_unsigned(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[MOVED:.*]] = qd.simt.broadcast %[[X]], %{{.*}}: i32
// CHECK:         arith.extui %[[MOVED]] {{.*}}qd.why = ["broadcast-of-unsigned"]{{.*}} : i32 to i64
// CHECK-NOT:     qd.simt
// CHECK:         return
func.func private @broadcast_of_unsigned(%in: memref<?xi32>, %out: memref<?xi64>, %lane: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %l = arith.extui %x : i32 to i64
  %r = qd.simt.broadcast %l, %lane : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// Of one from the first.
// CHECK-LABEL: func.func private @first_of_unsigned(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[MOVED:.*]] = qd.simt.broadcast_first %[[X]] {{.*}}: i32
// CHECK:         arith.extui %[[MOVED]] {{.*}}qd.why = ["first-of-unsigned"]{{.*}} : i32 to i64
// CHECK-NOT:     qd.simt
// CHECK:         return
func.func private @first_of_unsigned(%in: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %l = arith.extui %x : i32 to i64
  %r = qd.simt.broadcast_first %l : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}

// A predicate is no word: it moves as it was extended.
// CHECK-LABEL: func.func private @moves_of_predicates(
// CHECK-NOT:     {{"(idx-of-unsigned|xor-of-unsigned|broadcast-of-unsigned|first-of-unsigned)"}}
// CHECK:         %[[X:.*]] = arith.extui %{{.*}} : i1 to i64
// CHECK:         qd.simt.shuffle idx %[[X]]
// CHECK:         qd.simt.shuffle xor %[[X]]
// CHECK:         qd.simt.broadcast %[[X]]
// CHECK:         qd.simt.broadcast_first %[[X]]
// CHECK:         return
func.func private @moves_of_predicates(%in: memref<?xi32>, %out: memref<?xi64>, %lane: i32) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %x, %zero : i32
  %l = arith.extui %p : i1 to i64
  %a = qd.simt.shuffle idx %l, %x : i64
  %b = qd.simt.shuffle xor %l, %lane : i64
  %c = qd.simt.broadcast %l, %lane : i64
  %d = qd.simt.broadcast_first %l : i64
  %ab = arith.muli %a, %b : i64
  %cd = arith.muli %c, %d : i64
  %r = arith.muli %ab, %cd : i64
  memref.store %r, %out[%t] : memref<?xi64>
  return
}
