// Constants of the index dialect, which are what its comparisons fold to, go into the bodies like others: a launch has no
// argument for them.

// RUN: qd-opt %s --qd-outline-phases | FileCheck %s

// CHECK-LABEL: func.func private @constants_phase_0
// CHECK-SAME:  (%{{[^,]*}}: memref<?xi1>{{[^,]*}})
// CHECK-DAG:   index.bool.constant true
// CHECK-DAG:   index.constant 3
qd.grid.kernel @constants(%o: memref<?xi1>) {
  %blocks = arith.constant 1 : index
  %at = index.constant 3
  %true = index.bool.constant true
  qd.grid.phase blocks(%blocks) threads(64) {
    memref.store %true, %o[%at] : memref<?xi1>
  }
}
