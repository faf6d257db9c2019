// Sizing ops of constants are the formulas' values, here the table of the contract: n = 0, 1, 257, 65,536, 65,537 and 1,000,000 at each
// capacity. A sort by all of its keys' bits does not say so.
// RUN: qd-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @reduce_0(
func.func @reduce_0() -> (index, index, index, index) {
  // CHECK: return %c1, %c1, %c1, %c1 : index
  %n = arith.constant 0 : index
  %1 = qd.algo.scratch_slots reduce %n, 1
  %2 = qd.algo.scratch_slots reduce %n, 2
  %3 = qd.algo.scratch_slots reduce %n, 3
  %4 = qd.algo.scratch_slots reduce %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @reduce_1(
func.func @reduce_1() -> (index, index, index, index) {
  // CHECK: return %c1, %c1, %c2, %c3 : index
  %n = arith.constant 1 : index
  %1 = qd.algo.scratch_slots reduce %n, 1
  %2 = qd.algo.scratch_slots reduce %n, 2
  %3 = qd.algo.scratch_slots reduce %n, 3
  %4 = qd.algo.scratch_slots reduce %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @reduce_257(
func.func @reduce_257() -> (index, index, index, index) {
  // CHECK: return %c1, %c2, %c3, %c4 : index
  %n = arith.constant 257 : index
  %1 = qd.algo.scratch_slots reduce %n, 1
  %2 = qd.algo.scratch_slots reduce %n, 2
  %3 = qd.algo.scratch_slots reduce %n, 3
  %4 = qd.algo.scratch_slots reduce %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @reduce_65536(
func.func @reduce_65536() -> (index, index, index, index) {
  // CHECK: return %c1, %c256, %c257, %c258 : index
  %n = arith.constant 65536 : index
  %1 = qd.algo.scratch_slots reduce %n, 1
  %2 = qd.algo.scratch_slots reduce %n, 2
  %3 = qd.algo.scratch_slots reduce %n, 3
  %4 = qd.algo.scratch_slots reduce %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @reduce_65537(
func.func @reduce_65537() -> (index, index, index, index) {
  // CHECK: return %c1, %c257, %c259, %c260 : index
  %n = arith.constant 65537 : index
  %1 = qd.algo.scratch_slots reduce %n, 1
  %2 = qd.algo.scratch_slots reduce %n, 2
  %3 = qd.algo.scratch_slots reduce %n, 3
  %4 = qd.algo.scratch_slots reduce %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @reduce_1000000(
func.func @reduce_1000000() -> (index, index, index, index) {
  // CHECK: return %c1, %c3907, %c3923, %c3924 : index
  %n = arith.constant 1000000 : index
  %1 = qd.algo.scratch_slots reduce %n, 1
  %2 = qd.algo.scratch_slots reduce %n, 2
  %3 = qd.algo.scratch_slots reduce %n, 3
  %4 = qd.algo.scratch_slots reduce %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}

// CHECK-LABEL: func.func @exclusive_scan_0(
func.func @exclusive_scan_0() -> (index, index, index, index) {
  // CHECK: return %c1, %c1, %c1, %c1 : index
  %n = arith.constant 0 : index
  %1 = qd.algo.scratch_slots exclusive_scan %n, 1
  %2 = qd.algo.scratch_slots exclusive_scan %n, 2
  %3 = qd.algo.scratch_slots exclusive_scan %n, 3
  %4 = qd.algo.scratch_slots exclusive_scan %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @exclusive_scan_1(
func.func @exclusive_scan_1() -> (index, index, index, index) {
  // CHECK: return %c1, %c1, %c2, %c3 : index
  %n = arith.constant 1 : index
  %1 = qd.algo.scratch_slots exclusive_scan %n, 1
  %2 = qd.algo.scratch_slots exclusive_scan %n, 2
  %3 = qd.algo.scratch_slots exclusive_scan %n, 3
  %4 = qd.algo.scratch_slots exclusive_scan %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @exclusive_scan_257(
func.func @exclusive_scan_257() -> (index, index, index, index) {
  // CHECK: return %c1, %c2, %c3, %c4 : index
  %n = arith.constant 257 : index
  %1 = qd.algo.scratch_slots exclusive_scan %n, 1
  %2 = qd.algo.scratch_slots exclusive_scan %n, 2
  %3 = qd.algo.scratch_slots exclusive_scan %n, 3
  %4 = qd.algo.scratch_slots exclusive_scan %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @exclusive_scan_65536(
func.func @exclusive_scan_65536() -> (index, index, index, index) {
  // CHECK: return %c1, %c256, %c257, %c258 : index
  %n = arith.constant 65536 : index
  %1 = qd.algo.scratch_slots exclusive_scan %n, 1
  %2 = qd.algo.scratch_slots exclusive_scan %n, 2
  %3 = qd.algo.scratch_slots exclusive_scan %n, 3
  %4 = qd.algo.scratch_slots exclusive_scan %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @exclusive_scan_65537(
func.func @exclusive_scan_65537() -> (index, index, index, index) {
  // CHECK: return %c1, %c257, %c259, %c260 : index
  %n = arith.constant 65537 : index
  %1 = qd.algo.scratch_slots exclusive_scan %n, 1
  %2 = qd.algo.scratch_slots exclusive_scan %n, 2
  %3 = qd.algo.scratch_slots exclusive_scan %n, 3
  %4 = qd.algo.scratch_slots exclusive_scan %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @exclusive_scan_1000000(
func.func @exclusive_scan_1000000() -> (index, index, index, index) {
  // CHECK: return %c1, %c3907, %c3923, %c3924 : index
  %n = arith.constant 1000000 : index
  %1 = qd.algo.scratch_slots exclusive_scan %n, 1
  %2 = qd.algo.scratch_slots exclusive_scan %n, 2
  %3 = qd.algo.scratch_slots exclusive_scan %n, 3
  %4 = qd.algo.scratch_slots exclusive_scan %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}

// CHECK-LABEL: func.func @inclusive_scan_0(
func.func @inclusive_scan_0() -> (index, index, index, index) {
  // CHECK: return %c1, %c1, %c1, %c1 : index
  %n = arith.constant 0 : index
  %1 = qd.algo.scratch_slots inclusive_scan %n, 1
  %2 = qd.algo.scratch_slots inclusive_scan %n, 2
  %3 = qd.algo.scratch_slots inclusive_scan %n, 3
  %4 = qd.algo.scratch_slots inclusive_scan %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @inclusive_scan_1(
func.func @inclusive_scan_1() -> (index, index, index, index) {
  // CHECK: return %c1, %c1, %c2, %c3 : index
  %n = arith.constant 1 : index
  %1 = qd.algo.scratch_slots inclusive_scan %n, 1
  %2 = qd.algo.scratch_slots inclusive_scan %n, 2
  %3 = qd.algo.scratch_slots inclusive_scan %n, 3
  %4 = qd.algo.scratch_slots inclusive_scan %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @inclusive_scan_257(
func.func @inclusive_scan_257() -> (index, index, index, index) {
  // CHECK: return %c1, %c2, %c3, %c4 : index
  %n = arith.constant 257 : index
  %1 = qd.algo.scratch_slots inclusive_scan %n, 1
  %2 = qd.algo.scratch_slots inclusive_scan %n, 2
  %3 = qd.algo.scratch_slots inclusive_scan %n, 3
  %4 = qd.algo.scratch_slots inclusive_scan %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @inclusive_scan_65536(
func.func @inclusive_scan_65536() -> (index, index, index, index) {
  // CHECK: return %c1, %c256, %c257, %c258 : index
  %n = arith.constant 65536 : index
  %1 = qd.algo.scratch_slots inclusive_scan %n, 1
  %2 = qd.algo.scratch_slots inclusive_scan %n, 2
  %3 = qd.algo.scratch_slots inclusive_scan %n, 3
  %4 = qd.algo.scratch_slots inclusive_scan %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @inclusive_scan_65537(
func.func @inclusive_scan_65537() -> (index, index, index, index) {
  // CHECK: return %c1, %c257, %c259, %c260 : index
  %n = arith.constant 65537 : index
  %1 = qd.algo.scratch_slots inclusive_scan %n, 1
  %2 = qd.algo.scratch_slots inclusive_scan %n, 2
  %3 = qd.algo.scratch_slots inclusive_scan %n, 3
  %4 = qd.algo.scratch_slots inclusive_scan %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @inclusive_scan_1000000(
func.func @inclusive_scan_1000000() -> (index, index, index, index) {
  // CHECK: return %c1, %c3907, %c3923, %c3924 : index
  %n = arith.constant 1000000 : index
  %1 = qd.algo.scratch_slots inclusive_scan %n, 1
  %2 = qd.algo.scratch_slots inclusive_scan %n, 2
  %3 = qd.algo.scratch_slots inclusive_scan %n, 3
  %4 = qd.algo.scratch_slots inclusive_scan %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}

// CHECK-LABEL: func.func @sort_0(
func.func @sort_0() -> (index, index, index, index) {
  // CHECK: return %c1, %c1, %c1, %c1 : index
  %n = arith.constant 0 : index
  %1 = qd.algo.scratch_slots sort %n, 1
  %2 = qd.algo.scratch_slots sort %n, 2
  %3 = qd.algo.scratch_slots sort %n, 3
  %4 = qd.algo.scratch_slots sort %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @sort_1(
func.func @sort_1() -> (index, index, index, index) {
  // CHECK: return %c256, %c257, %c258, %c259 : index
  %n = arith.constant 1 : index
  %1 = qd.algo.scratch_slots sort %n, 1
  %2 = qd.algo.scratch_slots sort %n, 2
  %3 = qd.algo.scratch_slots sort %n, 3
  %4 = qd.algo.scratch_slots sort %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @sort_257(
func.func @sort_257() -> (index, index, index, index) {
  // CHECK: return %c512, %c514, %c515, %c516 : index
  %n = arith.constant 257 : index
  %1 = qd.algo.scratch_slots sort %n, 1
  %2 = qd.algo.scratch_slots sort %n, 2
  %3 = qd.algo.scratch_slots sort %n, 3
  %4 = qd.algo.scratch_slots sort %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @sort_65536(
func.func @sort_65536() -> (index, index, index, index) {
  // CHECK: return %c65536, %c65792, %c65793, %c65794 : index
  %n = arith.constant 65536 : index
  %1 = qd.algo.scratch_slots sort %n, 1
  %2 = qd.algo.scratch_slots sort %n, 2
  %3 = qd.algo.scratch_slots sort %n, 3
  %4 = qd.algo.scratch_slots sort %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @sort_65537(
func.func @sort_65537() -> (index, index, index, index) {
  // CHECK: return %c65792, %c66049, %c66051, %c66052 : index
  %n = arith.constant 65537 : index
  %1 = qd.algo.scratch_slots sort %n, 1
  %2 = qd.algo.scratch_slots sort %n, 2
  %3 = qd.algo.scratch_slots sort %n, 3
  %4 = qd.algo.scratch_slots sort %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @sort_1000000(
func.func @sort_1000000() -> (index, index, index, index) {
  // CHECK: return %c1000192, %c1004099, %c1004115, %c1004116 : index
  %n = arith.constant 1000000 : index
  %1 = qd.algo.scratch_slots sort %n, 1
  %2 = qd.algo.scratch_slots sort %n, 2
  %3 = qd.algo.scratch_slots sort %n, 3
  %4 = qd.algo.scratch_slots sort %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}

// CHECK-LABEL: func.func @select_0(
func.func @select_0() -> (index, index, index, index) {
  // CHECK: return %c1, %c1, %c1, %c1 : index
  %n = arith.constant 0 : index
  %1 = qd.algo.scratch_slots select %n, 1
  %2 = qd.algo.scratch_slots select %n, 2
  %3 = qd.algo.scratch_slots select %n, 3
  %4 = qd.algo.scratch_slots select %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @select_1(
func.func @select_1() -> (index, index, index, index) {
  // CHECK: return %c2, %c2, %c2, %c2 : index
  %n = arith.constant 1 : index
  %1 = qd.algo.scratch_slots select %n, 1
  %2 = qd.algo.scratch_slots select %n, 2
  %3 = qd.algo.scratch_slots select %n, 3
  %4 = qd.algo.scratch_slots select %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @select_257(
func.func @select_257() -> (index, index, index, index) {
  // CHECK: return %c259, %c259, %c259, %c259 : index
  %n = arith.constant 257 : index
  %1 = qd.algo.scratch_slots select %n, 1
  %2 = qd.algo.scratch_slots select %n, 2
  %3 = qd.algo.scratch_slots select %n, 3
  %4 = qd.algo.scratch_slots select %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @select_65536(
func.func @select_65536() -> (index, index, index, index) {
  // CHECK: return %c65792, %c65792, %c65792, %c65792 : index
  %n = arith.constant 65536 : index
  %1 = qd.algo.scratch_slots select %n, 1
  %2 = qd.algo.scratch_slots select %n, 2
  %3 = qd.algo.scratch_slots select %n, 3
  %4 = qd.algo.scratch_slots select %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @select_65537(
func.func @select_65537() -> (index, index, index, index) {
  // CHECK: return %c65796, %c65796, %c65796, %c65796 : index
  %n = arith.constant 65537 : index
  %1 = qd.algo.scratch_slots select %n, 1
  %2 = qd.algo.scratch_slots select %n, 2
  %3 = qd.algo.scratch_slots select %n, 3
  %4 = qd.algo.scratch_slots select %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @select_1000000(
func.func @select_1000000() -> (index, index, index, index) {
  // CHECK: return %c1003923, %c1003923, %c1003923, %c1003923 : index
  %n = arith.constant 1000000 : index
  %1 = qd.algo.scratch_slots select %n, 1
  %2 = qd.algo.scratch_slots select %n, 2
  %3 = qd.algo.scratch_slots select %n, 3
  %4 = qd.algo.scratch_slots select %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}

// CHECK-LABEL: func.func @partition_0(
func.func @partition_0() -> (index, index, index, index) {
  // CHECK: return %c1, %c1, %c1, %c1 : index
  %n = arith.constant 0 : index
  %1 = qd.algo.scratch_slots partition %n, 1
  %2 = qd.algo.scratch_slots partition %n, 2
  %3 = qd.algo.scratch_slots partition %n, 3
  %4 = qd.algo.scratch_slots partition %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @partition_1(
func.func @partition_1() -> (index, index, index, index) {
  // CHECK: return %c2, %c2, %c2, %c2 : index
  %n = arith.constant 1 : index
  %1 = qd.algo.scratch_slots partition %n, 1
  %2 = qd.algo.scratch_slots partition %n, 2
  %3 = qd.algo.scratch_slots partition %n, 3
  %4 = qd.algo.scratch_slots partition %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @partition_257(
func.func @partition_257() -> (index, index, index, index) {
  // CHECK: return %c259, %c259, %c259, %c259 : index
  %n = arith.constant 257 : index
  %1 = qd.algo.scratch_slots partition %n, 1
  %2 = qd.algo.scratch_slots partition %n, 2
  %3 = qd.algo.scratch_slots partition %n, 3
  %4 = qd.algo.scratch_slots partition %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @partition_65536(
func.func @partition_65536() -> (index, index, index, index) {
  // CHECK: return %c65792, %c65792, %c65792, %c65792 : index
  %n = arith.constant 65536 : index
  %1 = qd.algo.scratch_slots partition %n, 1
  %2 = qd.algo.scratch_slots partition %n, 2
  %3 = qd.algo.scratch_slots partition %n, 3
  %4 = qd.algo.scratch_slots partition %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @partition_65537(
func.func @partition_65537() -> (index, index, index, index) {
  // CHECK: return %c65796, %c65796, %c65796, %c65796 : index
  %n = arith.constant 65537 : index
  %1 = qd.algo.scratch_slots partition %n, 1
  %2 = qd.algo.scratch_slots partition %n, 2
  %3 = qd.algo.scratch_slots partition %n, 3
  %4 = qd.algo.scratch_slots partition %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @partition_1000000(
func.func @partition_1000000() -> (index, index, index, index) {
  // CHECK: return %c1003923, %c1003923, %c1003923, %c1003923 : index
  %n = arith.constant 1000000 : index
  %1 = qd.algo.scratch_slots partition %n, 1
  %2 = qd.algo.scratch_slots partition %n, 2
  %3 = qd.algo.scratch_slots partition %n, 3
  %4 = qd.algo.scratch_slots partition %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}

// CHECK-LABEL: func.func @reduce_by_key_0(
func.func @reduce_by_key_0() -> (index, index, index, index) {
  // CHECK: return %c1, %c1, %c1, %c1 : index
  %n = arith.constant 0 : index
  %1 = qd.algo.scratch_slots reduce_by_key %n, 1
  %2 = qd.algo.scratch_slots reduce_by_key %n, 2
  %3 = qd.algo.scratch_slots reduce_by_key %n, 3
  %4 = qd.algo.scratch_slots reduce_by_key %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @reduce_by_key_1(
func.func @reduce_by_key_1() -> (index, index, index, index) {
  // CHECK: return %c1, %c1, %c1, %c1 : index
  %n = arith.constant 1 : index
  %1 = qd.algo.scratch_slots reduce_by_key %n, 1
  %2 = qd.algo.scratch_slots reduce_by_key %n, 2
  %3 = qd.algo.scratch_slots reduce_by_key %n, 3
  %4 = qd.algo.scratch_slots reduce_by_key %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @reduce_by_key_257(
func.func @reduce_by_key_257() -> (index, index, index, index) {
  // CHECK: return %c259, %c259, %c259, %c259 : index
  %n = arith.constant 257 : index
  %1 = qd.algo.scratch_slots reduce_by_key %n, 1
  %2 = qd.algo.scratch_slots reduce_by_key %n, 2
  %3 = qd.algo.scratch_slots reduce_by_key %n, 3
  %4 = qd.algo.scratch_slots reduce_by_key %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @reduce_by_key_65536(
func.func @reduce_by_key_65536() -> (index, index, index, index) {
  // CHECK: return %c65792, %c65792, %c65792, %c65792 : index
  %n = arith.constant 65536 : index
  %1 = qd.algo.scratch_slots reduce_by_key %n, 1
  %2 = qd.algo.scratch_slots reduce_by_key %n, 2
  %3 = qd.algo.scratch_slots reduce_by_key %n, 3
  %4 = qd.algo.scratch_slots reduce_by_key %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @reduce_by_key_65537(
func.func @reduce_by_key_65537() -> (index, index, index, index) {
  // CHECK: return %c65796, %c65796, %c65796, %c65796 : index
  %n = arith.constant 65537 : index
  %1 = qd.algo.scratch_slots reduce_by_key %n, 1
  %2 = qd.algo.scratch_slots reduce_by_key %n, 2
  %3 = qd.algo.scratch_slots reduce_by_key %n, 3
  %4 = qd.algo.scratch_slots reduce_by_key %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}
// CHECK-LABEL: func.func @reduce_by_key_1000000(
func.func @reduce_by_key_1000000() -> (index, index, index, index) {
  // CHECK: return %c1003923, %c1003923, %c1003923, %c1003923 : index
  %n = arith.constant 1000000 : index
  %1 = qd.algo.scratch_slots reduce_by_key %n, 1
  %2 = qd.algo.scratch_slots reduce_by_key %n, 2
  %3 = qd.algo.scratch_slots reduce_by_key %n, 3
  %4 = qd.algo.scratch_slots reduce_by_key %n, 4
  return %1, %2, %3, %4 : index, index, index, index
}

// CHECK-LABEL: func.func @slots_unknown(
func.func @slots_unknown(%n: index) -> (index, index) {
  // CHECK: qd.algo.scratch_slots sort %arg0, 3
  // CHECK: qd.algo.scratch_slots select
  %negative = arith.constant -1 : index
  %0 = qd.algo.scratch_slots sort %n, 3
  %1 = qd.algo.scratch_slots select %negative, 3
  return %0, %1 : index, index
}

// CHECK-LABEL: qd.grid.kernel @end_bit(
qd.grid.kernel @end_bit(%k: memref<?xi32>, %tk: memref<?xi32>, %d: memref<?xf64>, %td: memref<?xf64>, %s: memref<?xi32>, %n: memref<i32>) {
  // CHECK-NEXT: qd.algo.sort keys(%arg0, %arg1 : {{.*}}) scratch({{.*}}) count({{.*}}) log256_max_n = 2 unsigned{{$}}
  // CHECK-NEXT: qd.algo.sort keys(%arg0, %arg1 : {{.*}}) scratch({{.*}}) count({{.*}}) log256_max_n = 2 end_bit = 24{{$}}
  // CHECK-NEXT: qd.algo.sort keys(%arg2, %arg3 : {{.*}}) scratch({{.*}}) count({{.*}}) log256_max_n = 2 end_bit = 32{{$}}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 unsigned end_bit = 32
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 end_bit = 24
  qd.algo.sort keys(%d, %td : memref<?xf64>, memref<?xf64>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 end_bit = 32
}
