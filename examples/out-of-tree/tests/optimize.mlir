// The pipeline by its name: the broadcast goes, and one collective is left to be counted.
// RUN: my-opt %s --pass-pipeline='builtin.module(my-optimize)' 2>&1 | FileCheck %s --check-prefixes=CHECK,REMARK
// RUN: my-opt %s --my-optimize=more-than=1 2>&1 | FileCheck %s --implicit-check-not=remark
// It stands beside upstream's passes and qd's.
// RUN: my-opt %s --pass-pipeline='builtin.module(my-optimize,qd-verify-convergence,cse)' 2>&1 | FileCheck %s

// REMARK: remark: phase 'normalize': 1 collectives, 0 of them across the block

// CHECK-LABEL: qd.grid.kernel @normalize(
qd.grid.kernel @normalize(%a: memref<?xf32>, %blocks: index) {
  qd.grid.phase "normalize" blocks(%blocks) threads(64) {
    // CHECK: %[[SUM:.*]] = qd.simt.reduce_all add
    // CHECK-NEXT: arith.divf %{{.*}}, %[[SUM]]
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xf32>
    %s = qd.simt.reduce add %x : f32
    %sum = qd.simt.broadcast_first %s : f32
    %y = arith.divf %x, %sum : f32
    memref.store %y, %a[%t] : memref<?xf32>
  }
}
