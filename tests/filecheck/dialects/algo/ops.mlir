// Every device-wide algorithm, in every form it can be written in.
// RUN: qd-opt %s | FileCheck %s

//===----------------------------------------------------------------------===//
// Reduce and scans
//===----------------------------------------------------------------------===//

// CHECK-LABEL: qd.grid.kernel @reduce(%arg0: memref<?xf32>, %arg1: memref<?xi64>, %arg2: memref<1xf32>, %arg3: memref<?xi64>, %arg4: memref<?xi32>, %arg5: memref<?xi64>, %arg6: memref<i32>, %arg7: memref<i64>) {
qd.grid.kernel @reduce(%in: memref<?xf32>, %in64: memref<?xi64>, %out: memref<1xf32>, %out64: memref<?xi64>, %s: memref<?xi32>, %s64: memref<?xi64>, %n: memref<i32>, %n64: memref<i64>) {
  // CHECK: qd.algo.reduce add ins(%arg0 : memref<?xf32>) outs(%arg2 : memref<1xf32>) scratch(%arg4 : memref<?xi32>) count(%arg6 : memref<i32>) log256_max_n = 1
  qd.algo.reduce add ins(%in : memref<?xf32>) outs(%out : memref<1xf32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
  // CHECK: qd.algo.reduce minsi ins(%arg1 : memref<?xi64>) outs(%arg3 : memref<?xi64>) scratch(%arg5 : memref<?xi64>) count(%arg7 : memref<i64>) log256_max_n = 4 strategy = "hierarchical"
  qd.algo.reduce minsi ins(%in64 : memref<?xi64>) outs(%out64 : memref<?xi64>)
    scratch(%s64 : memref<?xi64>) count(%n64 : memref<i64>) log256_max_n = 4 strategy = "hierarchical"
  // CHECK: qd.algo.reduce maxnumf ins(%arg0 : memref<?xf32>) outs(%arg2 : memref<1xf32>) scratch(%arg4 : memref<?xi32>) count(%arg6 : memref<i32>) log256_max_n = 3 strategy = "hierarchical" deterministic checked {note = "kept"}
  qd.algo.reduce maxnumf ins(%in : memref<?xf32>) outs(%out : memref<1xf32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 strategy = "hierarchical" deterministic checked {note = "kept"}
}

// CHECK-LABEL: qd.grid.kernel @scans(%arg0: memref<?xi32>, %arg1: memref<?xi32>, %arg2: memref<?xi32>, %arg3: memref<i32>) {
qd.grid.kernel @scans(%in: memref<?xi32>, %out: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // CHECK: qd.algo.exclusive_scan add ins(%arg0 : memref<?xi32>) outs(%arg1 : memref<?xi32>) scratch(%arg2 : memref<?xi32>) count(%arg3 : memref<i32>) log256_max_n = 2
  qd.algo.exclusive_scan add ins(%in : memref<?xi32>) outs(%out : memref<?xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  // CHECK: qd.algo.inclusive_scan maxui ins(%arg0 : memref<?xi32>) outs(%arg1 : memref<?xi32>) scratch(%arg2 : memref<?xi32>) count(%arg3 : memref<i32>) log256_max_n = 2 deterministic
  qd.algo.inclusive_scan maxui ins(%in : memref<?xi32>) outs(%out : memref<?xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 deterministic
  // CHECK: qd.algo.exclusive_scan xor ins(%arg0 : memref<?xi32>) outs(%arg1 : memref<?xi32>) scratch(%arg2 : memref<?xi32>) count(%arg3 : memref<i32>) log256_max_n = 2 checked
  qd.algo.exclusive_scan xor ins(%in : memref<?xi32>) outs(%out : memref<?xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 checked
}

// CHECK-LABEL: qd.grid.kernel @regions(%arg0: memref<?xf32>, %arg1: memref<?xi64>, %arg2: memref<?xf32>, %arg3: memref<?xi64>, %arg4: memref<?xi32>, %arg5: memref<?xi64>, %arg6: memref<i32>, %arg7: memref<?xf32>, %arg8: memref<?xi32>) {
qd.grid.kernel @regions(%a: memref<?xf32>, %b: memref<?xi64>, %oa: memref<?xf32>, %ob: memref<?xi64>, %sa: memref<?xi32>, %sb: memref<?xi64>, %n: memref<i32>, %oa2: memref<?xf32>, %sa2: memref<?xi32>) {
  // CHECK: qd.algo.reduce ins(%arg0 : memref<?xf32>) outs(%arg2 : memref<?xf32>) scratch(%arg4 : memref<?xi32>) count(%arg6 : memref<i32>) log256_max_n = 3 identity [1.000000e+00 : f32] combiner {
  qd.algo.reduce ins(%a : memref<?xf32>) outs(%oa : memref<?xf32>) scratch(%sa : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 identity [1.0 : f32] combiner {
  ^bb0(%l: f32, %r: f32):
    %x = arith.mulf %l, %r : f32
    // CHECK: qd.yield %0 : f32
    qd.yield %x : f32
  }
  // CHECK: qd.algo.inclusive_scan ins(%arg0, %arg1 : memref<?xf32>, memref<?xi64>) outs(%arg2, %arg3 : memref<?xf32>, memref<?xi64>) scratch(%arg4, %arg5 : memref<?xi32>, memref<?xi64>) count(%arg6 : memref<i32>) log256_max_n = 3 strategy = "hierarchical" identity [0.000000e+00 : f32, 0] combiner {
  qd.algo.inclusive_scan ins(%a, %b : memref<?xf32>, memref<?xi64>) outs(%oa, %ob : memref<?xf32>, memref<?xi64>) scratch(%sa, %sb : memref<?xi32>, memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3 strategy = "hierarchical" identity [0.0 : f32, 0] combiner {
  ^bb0(%la: f32, %lb: i64, %ra: f32, %rb: i64):
    // CHECK: qd.yield %arg11, %arg12 : f32, i64
    qd.yield %ra, %rb : f32, i64
  }
  // CHECK: qd.algo.exclusive_scan ins(%arg0, %arg0 : memref<?xf32>, memref<?xf32>) outs(%arg2, %arg7 : memref<?xf32>, memref<?xf32>) scratch(%arg4, %arg8 : memref<?xi32>, memref<?xi32>) count(%arg6 : memref<i32>) log256_max_n = 3 deterministic checked {note = "kept"} identity [0.000000e+00 : f32, 0.000000e+00 : f32] combiner {
  qd.algo.exclusive_scan ins(%a, %a : memref<?xf32>, memref<?xf32>) outs(%oa, %oa2 : memref<?xf32>, memref<?xf32>) scratch(%sa, %sa2 : memref<?xi32>, memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 deterministic checked {note = "kept"} identity [0.0 : f32, 0.0 : f32] combiner {
  ^bb0(%la: f32, %lb: f32, %ra: f32, %rb: f32):
    // CHECK: qd.yield %arg9, %arg12 : f32, f32
    qd.yield %la, %rb : f32, f32
  }
}

//===----------------------------------------------------------------------===//
// Select and partition
//===----------------------------------------------------------------------===//

// CHECK-LABEL: qd.grid.kernel @select(%arg0: memref<?xf32>, %arg1: memref<?xi32>, %arg2: memref<?xf32>, %arg3: memref<i32>, %arg4: memref<1xi32>, %arg5: memref<?xi32>, %arg6: memref<i32>) {
qd.grid.kernel @select(%in: memref<?xf32>, %flags: memref<?xi32>, %out: memref<?xf32>, %num: memref<i32>, %num1: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // CHECK: qd.algo.select ins(%arg0, %arg1 : memref<?xf32>, memref<?xi32>) outs(%arg2, %arg3 : memref<?xf32>, memref<i32>) scratch(%arg5 : memref<?xi32>) count(%arg6 : memref<i32>) log256_max_n = 2
  qd.algo.select ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  // CHECK: qd.algo.select ins(%arg0, %arg1 : memref<?xf32>, memref<?xi32>) outs(%arg2, %arg4 : memref<?xf32>, memref<1xi32>) scratch(%arg5 : memref<?xi32>) count(%arg6 : memref<i32>) log256_max_n = 2 strategy = "hierarchical" deterministic checked {note = "kept"}
  qd.algo.select ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%out, %num1 : memref<?xf32>, memref<1xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 strategy = "hierarchical" deterministic checked {note = "kept"}
  // CHECK: qd.algo.partition ins(%arg0, %arg1 : memref<?xf32>, memref<?xi32>) outs(%arg2, %arg3 : memref<?xf32>, memref<i32>) scratch(%arg5 : memref<?xi32>) count(%arg6 : memref<i32>) log256_max_n = 2
  qd.algo.partition ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  // CHECK: qd.algo.partition ins(%arg0, %arg1 : memref<?xf32>, memref<?xi32>) outs(%arg2, %arg3 : memref<?xf32>, memref<i32>) scratch(%arg5 : memref<?xi32>) count(%arg6 : memref<i32>) log256_max_n = 2 strategy = "hierarchical"
  qd.algo.partition ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 strategy = "hierarchical"
}

// Elements are moved without a look inside: any scalar of whole bytes, and rows of them.
// CHECK-LABEL: qd.grid.kernel @rows(%arg0: memref<?x3xf32>, %arg1: memref<?xi8>, %arg2: memref<?x2xf16>, %arg3: memref<?xi32>, %arg4: memref<?x3xf32>, %arg5: memref<?xi8>, %arg6: memref<?x2xf16>, %arg7: memref<i32>, %arg8: memref<?xi32>, %arg9: memref<i32>) {
qd.grid.kernel @rows(%points: memref<?x3xf32>, %bytes: memref<?xi8>, %halves: memref<?x2xf16>, %flags: memref<?xi32>, %opoints: memref<?x3xf32>, %obytes: memref<?xi8>, %ohalves: memref<?x2xf16>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // CHECK: qd.algo.select ins(%arg0, %arg3 : memref<?x3xf32>, memref<?xi32>) outs(%arg4, %arg7 : memref<?x3xf32>, memref<i32>) scratch(%arg8 : memref<?xi32>) count(%arg9 : memref<i32>) log256_max_n = 2
  qd.algo.select ins(%points, %flags : memref<?x3xf32>, memref<?xi32>) outs(%opoints, %num : memref<?x3xf32>, memref<i32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  // CHECK: qd.algo.select ins(%arg1, %arg3 : memref<?xi8>, memref<?xi32>) outs(%arg5, %arg7 : memref<?xi8>, memref<i32>) scratch(%arg8 : memref<?xi32>) count(%arg9 : memref<i32>) log256_max_n = 2
  qd.algo.select ins(%bytes, %flags : memref<?xi8>, memref<?xi32>) outs(%obytes, %num : memref<?xi8>, memref<i32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  // CHECK: qd.algo.partition ins(%arg2, %arg3 : memref<?x2xf16>, memref<?xi32>) outs(%arg6, %arg7 : memref<?x2xf16>, memref<i32>) scratch(%arg8 : memref<?xi32>) count(%arg9 : memref<i32>) log256_max_n = 2
  qd.algo.partition ins(%halves, %flags : memref<?x2xf16>, memref<?xi32>) outs(%ohalves, %num : memref<?x2xf16>, memref<i32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
}

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

// CHECK-LABEL: qd.grid.kernel @sort(%arg0: memref<?xi32>, %arg1: memref<?xi32>, %arg2: memref<?xf64>, %arg3: memref<?xf64>, %arg4: memref<?x3xf32>, %arg5: memref<?x3xf32>, %arg6: memref<?xi32>, %arg7: memref<i32>) {
qd.grid.kernel @sort(%k: memref<?xi32>, %tk: memref<?xi32>, %d: memref<?xf64>, %td: memref<?xf64>, %v: memref<?x3xf32>, %tv: memref<?x3xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // CHECK: qd.algo.sort keys(%arg0, %arg1 : memref<?xi32>, memref<?xi32>) scratch(%arg6 : memref<?xi32>) count(%arg7 : memref<i32>) log256_max_n = 3
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  // CHECK: qd.algo.sort keys(%arg0, %arg1 : memref<?xi32>, memref<?xi32>) scratch(%arg6 : memref<?xi32>) count(%arg7 : memref<i32>) log256_max_n = 3 unsigned
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 unsigned
  // CHECK: qd.algo.sort keys(%arg2, %arg3 : memref<?xf64>, memref<?xf64>) scratch(%arg6 : memref<?xi32>) count(%arg7 : memref<i32>) log256_max_n = 3 end_bit = 24
  qd.algo.sort keys(%d, %td : memref<?xf64>, memref<?xf64>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 end_bit = 24
  // CHECK: qd.algo.sort keys(%arg0, %arg1 : memref<?xi32>, memref<?xi32>) values(%arg4, %arg5 : memref<?x3xf32>, memref<?x3xf32>) scratch(%arg6 : memref<?xi32>) count(%arg7 : memref<i32>) log256_max_n = 3
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>) values(%v, %tv : memref<?x3xf32>, memref<?x3xf32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  // CHECK: qd.algo.sort keys(%arg0, %arg1 : memref<?xi32>, memref<?xi32>) values(%arg4, %arg5 : memref<?x3xf32>, memref<?x3xf32>) scratch(%arg6 : memref<?xi32>) count(%arg7 : memref<i32>) log256_max_n = 3 unsigned end_bit = 16 strategy = "hierarchical" deterministic checked {note = "kept"}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>) values(%v, %tv : memref<?x3xf32>, memref<?x3xf32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 unsigned end_bit = 16 strategy = "hierarchical" deterministic checked {note = "kept"}
}

// CHECK-LABEL: qd.grid.kernel @parallel_sort(%arg0: memref<?xi32>, %arg1: memref<?xf64>, %arg2: memref<?xf32>) {
qd.grid.kernel @parallel_sort(%k: memref<?xi32>, %d: memref<?xf64>, %v: memref<?xf32>) {
  // CHECK: qd.algo.parallel_sort keys(%arg1 : memref<?xf64>)
  qd.algo.parallel_sort keys(%d : memref<?xf64>)
  // CHECK: qd.algo.parallel_sort keys(%arg0 : memref<?xi32>) values(%arg2 : memref<?xf32>)
  qd.algo.parallel_sort keys(%k : memref<?xi32>) values(%v : memref<?xf32>)
  // CHECK: qd.algo.parallel_sort keys(%arg0 : memref<?xi32>) values(%arg2 : memref<?xf32>) unsigned {note = "kept"}
  qd.algo.parallel_sort keys(%k : memref<?xi32>) values(%v : memref<?xf32>) unsigned {note = "kept"}
}

//===----------------------------------------------------------------------===//
// Reduce by key
//===----------------------------------------------------------------------===//

// CHECK-LABEL: qd.grid.kernel @reduce_by_key(%arg0: memref<?xf64>, %arg1: memref<?xi64>, %arg2: memref<?xf64>, %arg3: memref<?xi64>, %arg4: memref<i32>, %arg5: memref<1xi32>, %arg6: memref<?xi32>, %arg7: memref<i32>) {
qd.grid.kernel @reduce_by_key(%k: memref<?xf64>, %v: memref<?xi64>, %ko: memref<?xf64>, %vo: memref<?xi64>, %runs: memref<i32>, %runs1: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // CHECK: qd.algo.reduce_by_key add ins(%arg0, %arg1 : memref<?xf64>, memref<?xi64>) outs(%arg2, %arg3, %arg4 : memref<?xf64>, memref<?xi64>, memref<i32>) scratch(%arg6 : memref<?xi32>) count(%arg7 : memref<i32>) log256_max_n = 3
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xf64>, memref<?xi64>) outs(%ko, %vo, %runs : memref<?xf64>, memref<?xi64>, memref<i32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  // CHECK: qd.algo.reduce_by_key minsi ins(%arg0, %arg1 : memref<?xf64>, memref<?xi64>) outs(%arg2, %arg3, %arg5 : memref<?xf64>, memref<?xi64>, memref<1xi32>) scratch(%arg6 : memref<?xi32>) count(%arg7 : memref<i32>) log256_max_n = 3 strategy = "hierarchical" deterministic checked {note = "kept"}
  qd.algo.reduce_by_key minsi ins(%k, %v : memref<?xf64>, memref<?xi64>) outs(%ko, %vo, %runs1 : memref<?xf64>, memref<?xi64>, memref<1xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 strategy = "hierarchical" deterministic checked {note = "kept"}
  // CHECK: qd.algo.reduce_by_key ins(%arg0, %arg1 : memref<?xf64>, memref<?xi64>) outs(%arg2, %arg3, %arg4 : memref<?xf64>, memref<?xi64>, memref<i32>) scratch(%arg6 : memref<?xi32>) count(%arg7 : memref<i32>) log256_max_n = 3 identity [0] combiner {
  qd.algo.reduce_by_key ins(%k, %v : memref<?xf64>, memref<?xi64>) outs(%ko, %vo, %runs : memref<?xf64>, memref<?xi64>, memref<i32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 identity [0] combiner {
  ^bb0(%l: i64, %r: i64):
    // CHECK: qd.yield %arg8 : i64
    qd.yield %l : i64
  }
}

// Of each run the sum and the number of elements; one buffer is twice a value.
// CHECK-LABEL: qd.grid.kernel @reduce_structs_by_key
qd.grid.kernel @reduce_structs_by_key(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %a: memref<?xf32>, %b: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // CHECK: qd.algo.reduce_by_key ins(%arg0, %arg1, %arg1 : memref<?xi32>, memref<?xf32>, memref<?xf32>) outs(%arg2, %arg3, %arg4, %arg5 : memref<?xi32>, memref<?xf32>, memref<?xf32>, memref<i32>) scratch(%arg6 : memref<?xi32>) count(%arg7 : memref<i32>) log256_max_n = 3 identity [0.000000e+00 : f32, 1.000000e+00 : f32] combiner {
  qd.algo.reduce_by_key ins(%k, %v, %v : memref<?xi32>, memref<?xf32>, memref<?xf32>) outs(%ko, %a, %b, %runs : memref<?xi32>, memref<?xf32>, memref<?xf32>, memref<i32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 identity [0.0 : f32, 1.0 : f32] combiner {
  ^bb0(%l: f32, %x: f32, %r: f32, %y: f32):
    %sum = arith.addf %l, %r : f32
    %product = arith.mulf %x, %y : f32
    qd.yield %sum, %product : f32, f32
  }
}

//===----------------------------------------------------------------------===//
// Sizing
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @scratch_slots(
func.func @scratch_slots(%n: index) {
  // CHECK: qd.algo.scratch_slots reduce %arg0, 1
  %0 = qd.algo.scratch_slots reduce %n, 1
  // CHECK: qd.algo.scratch_slots exclusive_scan %arg0, 2
  %1 = qd.algo.scratch_slots exclusive_scan %n, 2
  // CHECK: qd.algo.scratch_slots inclusive_scan %arg0, 3
  %2 = qd.algo.scratch_slots inclusive_scan %n, 3
  // CHECK: qd.algo.scratch_slots select %arg0, 4
  %3 = qd.algo.scratch_slots select %n, 4
  // CHECK: qd.algo.scratch_slots sort %arg0, 3
  %4 = qd.algo.scratch_slots sort %n, 3
  // CHECK: qd.algo.scratch_slots reduce_by_key %arg0, 2
  %5 = qd.algo.scratch_slots reduce_by_key %n, 2
  // CHECK: qd.algo.scratch_slots partition %arg0, 1 {note = "kept"}
  %6 = qd.algo.scratch_slots partition %n, 1 {note = "kept"}
  return
}
