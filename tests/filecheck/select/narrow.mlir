// What is asked of a value of 64 bits, or is in it, is 32: a word moves, or is summed up, instead of two. Where a high bit
// decides, nothing changes.

// RUN: qd-opt %s --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s
// RUN: qd-opt %s --qd-select-lowering=target=amdgpu:gfx1100 | FileCheck %s

// CHECK-LABEL: func.func private @sum
// CHECK-NOT:     arith.ext
// CHECK:         qd.simt.reduce_all add %{{.*}} tile({{.}}) {{.*}}qd.why = ["low-of-reduce", "low-of-signed"]{{.*}} : i32
// CHECK:         return
func.func private @sum(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %l = arith.extsi %v : i32 to i64
  %s = qd.simt.reduce_all add %l : i64
  %r = arith.trunci %s : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// CHECK-LABEL: func.func private @scan
// CHECK-NOT:     arith.ext
// CHECK:         qd.simt.{{inclusive|exclusive}}_scan add %{{.*}} : i32
// CHECK:         return
func.func private @scan(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %l = arith.extui %v : i32 to i64
  %k = qd.simt.exclusive_scan add %l : i64
  %r = arith.trunci %k : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}

// The high word is made of the low one behind the move.
// CHECK-LABEL: func.func private @gather
// CHECK:         %[[M:.*]] = qd.simt.shuffle idx %{{.*}} : i32
// CHECK:         arith.extsi %[[M]] {{.*}}qd.why = ["idx-of-signed"]{{.*}} : i32 to i64
// CHECK:         return
func.func private @gather(%in: memref<?xi32>, %lanes: memref<?xi32>, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %from = memref.load %lanes[%t] : memref<?xi32>
  %l = arith.extsi %v : i32 to i64
  %m = qd.simt.shuffle idx %l, %from : i64
  memref.store %m, %out[%t] : memref<?xi64>
  return
}

// The largest of words may differ in the high ones.
// CHECK-LABEL: func.func private @maximum
// CHECK-NOT:     qd.simt.reduce_all maxsi %{{.*}} : i32
// CHECK:         arith.trunci %{{.*}} : i64 to i32
// CHECK:         return
func.func private @maximum(%in: memref<?xi64>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi64>
  %s = qd.simt.reduce_all maxsi %v : i64
  %r = arith.trunci %s : i64 to i32
  memref.store %r, %out[%t] : memref<?xi32>
  return
}
