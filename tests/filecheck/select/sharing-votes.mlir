// One ballot for a predicate and its negation, one vote or reduction for two whose results are combined; and
// floats and factors of lanes of their own, which stay.

// RUN: qd-opt %s --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s

// CHECK-LABEL: func.func private @negated
// CHECK:         %[[MASK:.*]] = qd.simt.ballot
// CHECK-NOT:     qd.simt.ballot
// CHECK:         qd.math.popcnt %[[MASK]]
// CHECK-NOT:     qd.simt.{{.*}}scan
// CHECK-NOT:     qd.simt.ballot
// CHECK-NOT:     qd.simt.count_true
// CHECK:         return
func.func private @negated(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %true = arith.constant true
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %not = arith.xori %p, %true : i1
  %one = arith.extui %p : i1 to i32
  %other = arith.extui %not : i1 to i32
  %count = qd.simt.count_true %p
  %rest = qd.simt.count_true %not
  %rank = qd.simt.exclusive_scan add %one : i32
  %rank_of_rest = qd.simt.exclusive_scan add %other : i32
  %a = arith.muli %count, %rest : i32
  %b = arith.muli %rank, %rank_of_rest : i32
  %sum = arith.addi %a, %b : i32
  memref.store %sum, %out[%t] : memref<?xi32>
  return
}

// CHECK-LABEL: func.func private @votes
// CHECK:         %[[OR:.*]] = arith.ori
// CHECK:         qd.simt.any %[[OR]]
// CHECK-NOT:     qd.simt.any
// CHECK:         %[[AND:.*]] = arith.andi
// CHECK:         qd.simt.all %[[AND]]
// CHECK-NOT:     qd.simt.all
// CHECK:         %[[XOR:.*]] = arith.xori
// CHECK:         qd.simt.ballot %[[XOR]]
// CHECK-NOT:     qd.simt.ballot
// CHECK:         return
func.func private @votes(%in: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : i32
  %ten = arith.constant 10 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %q = arith.cmpi slt, %v, %ten : i32
  %any_p = qd.simt.any %p
  %any_q = qd.simt.any %q
  %any = arith.ori %any_p, %any_q : i1
  %all_p = qd.simt.all %p
  %all_q = qd.simt.all %q
  %all = arith.andi %all_p, %all_q : i1
  %mask_p = qd.simt.ballot %p
  %mask_q = qd.simt.ballot %q
  %mask = arith.xori %mask_p, %mask_q : i64
  %one = arith.extui %any : i1 to i64
  %two = arith.extui %all : i1 to i64
  %a = arith.muli %one, %two : i64
  %b = arith.muli %a, %mask : i64
  memref.store %b, %out[%t] : memref<?xi64>
  return
}

// CHECK-LABEL: func.func private @sums
// CHECK:         qd.simt.reduce_all add
// CHECK-NOT:     qd.simt.reduce_all add
// CHECK:         qd.simt.reduce_all xor
// CHECK-NOT:     qd.simt.reduce_all xor
// CHECK:         qd.simt.reduce_all add %{{.*}} : f32
// CHECK:         qd.simt.reduce_all add %{{.*}} : f32
// CHECK:         return
func.func private @sums(%in: memref<?xi32>, %out: memref<?xi32>, %from: memref<?xf32>, %to: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %in[%t] : memref<?xi32>
  %y = memref.load %out[%t] : memref<?xi32>
  %sum_x = qd.simt.reduce_all add %x : i32
  %sum_y = qd.simt.reduce_all add %y : i32
  %sum = arith.addi %sum_x, %sum_y : i32
  %xor_x = qd.simt.reduce_all xor %x : i32
  %xor_y = qd.simt.reduce_all xor %y : i32
  %xor = arith.xori %xor_x, %xor_y : i32
  %both = arith.muli %sum, %xor : i32
  memref.store %both, %out[%t] : memref<?xi32>
  %f = memref.load %from[%t] : memref<?xf32>
  %g = memref.load %to[%t] : memref<?xf32>
  %sum_f = qd.simt.reduce_all add %f : f32
  %sum_g = qd.simt.reduce_all add %g : f32
  %all = arith.addf %sum_f, %sum_g : f32
  memref.store %all, %to[%t] : memref<?xf32>
  return
}

// CHECK-LABEL: func.func private @factors
// CHECK:         qd.simt.reduce_all add
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         return
func.func private @factors(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : index
  %t = qd.simt.block.thread_id
  %u = memref.load %in[%zero] : memref<?xi32>
  %x = memref.load %in[%t] : memref<?xi32>
  %ux = arith.muli %x, %u : i32
  %a = qd.simt.reduce_all add %x : i32
  %b = qd.simt.reduce_all add %ux : i32
  %sum = arith.xori %a, %b : i32
  memref.store %sum, %out[%t] : memref<?xi32>
  return
}

// Each lane has a factor of its own.
// CHECK-LABEL: func.func private @no_factors
// CHECK-COUNT-2: qd.simt.reduce_all add
// CHECK:         return
func.func private @no_factors(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %u = memref.load %out[%t] : memref<?xi32>
  %x = memref.load %in[%t] : memref<?xi32>
  %ux = arith.muli %x, %u : i32
  %a = qd.simt.reduce_all add %x : i32
  %b = qd.simt.reduce_all add %ux : i32
  %sum = arith.xori %a, %b : i32
  memref.store %sum, %out[%t] : memref<?xi32>
  return
}

// Prefixes of what is the same in all lanes; of what is not they stay.
// CHECK-LABEL: func.func private @prefixes
// CHECK:         %[[LANE:.*]] = qd.simt.lane_id
// CHECK:         arith.muli %{{.*}}, %[[LANE]]
// CHECK:         qd.simt.inclusive_scan add
// CHECK-NOT:     qd.simt.{{.*}}scan
// CHECK:         return
func.func private @prefixes(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : index
  %t = qd.simt.block.thread_id
  %u = memref.load %in[%zero] : memref<?xi32>
  %x = memref.load %in[%t] : memref<?xi32>
  %b = qd.simt.exclusive_scan add %u : i32
  %c = qd.simt.inclusive_scan add %u : i32
  %d = qd.simt.inclusive_scan add %x : i32
  %e = arith.xori %b, %c : i32
  %f = arith.xori %d, %e : i32
  memref.store %f, %out[%t] : memref<?xi32>
  return
}
