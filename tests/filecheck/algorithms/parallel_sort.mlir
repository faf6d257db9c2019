// The deprecated sort is one phase of one block, which walks through Batcher's
// network with a barrier behind each step.

// RUN: qd-opt %s --qd-expand-algorithms | FileCheck %s

// CHECK-LABEL: qd.grid.kernel @k
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         qd.grid.phase "parallel_sort" blocks(%[[ONE]]) threads(256) attributes {qd.wave = "any"} {
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               scf.for
// CHECK:                 scf.if
// CHECK:               qd.simt.block.sync
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @k(%k: memref<?xf32>, %v: memref<?xi32>) {
  qd.algo.parallel_sort keys(%k : memref<?xf32>) values(%v : memref<?xi32>)
}
