// The control words of a kernel's ops are consecutive, and are passed by their place: they are no
// argument.

// RUN: qd-translate %s --target=cpu --emit=plan | FileCheck %s
// RUN: qd-opt %s --qd-plan-launches=print-plan=true 2>&1 >/dev/null | FileCheck %s --check-prefix=PLAN

// Launches that count in different control words do not wait for each other.
// PLAN:      launch 0 @k_first_0
// PLAN-NEXT: launch 1 @k_second_1
// PLAN-NEXT: launch 2 @k_again_2
// PLAN-NEXT:   after launch 0 {{.*}}: reads what it writes: control words

// CHECK-LABEL: "name": "k"
// CHECK:       "arguments": [
// CHECK-NEXT:    {
// CHECK-NEXT:      "name": "blocks"
// CHECK-NOT:   "name"
// CHECK:       "control": 5
// CHECK:       "name": "first"
// CHECK:       "control": {
// CHECK-NEXT:    "first": 0
// CHECK-NEXT:    "words": 3
// CHECK:       "name": "second"
// CHECK:       "control": {
// CHECK-NEXT:    "first": 3
// CHECK-NEXT:    "words": 2
// CHECK:       "name": "again"
// CHECK:       "control": {
// CHECK-NEXT:    "first": 0
// CHECK-NEXT:    "words": 3
qd.grid.kernel @k(%blocks: index {qd.name = "blocks"}) {
  %v = qd.grid.control : memref<3xi32>
  %w = qd.grid.control : memref<2xi32>
  qd.grid.phase "first" blocks(%blocks) threads(64) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    qd.grid.atomic.store %zero, %v[%c0] device relaxed : memref<3xi32>
  }
  qd.grid.phase "second" blocks(%blocks) threads(64) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    qd.grid.atomic.store %zero, %w[%c0] device relaxed : memref<2xi32>
  }
  qd.grid.phase "again" blocks(%blocks) threads(64) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %old = qd.grid.atomic.rmw add %one, %v[%c1] device relaxed : memref<3xi32>
  }
}
