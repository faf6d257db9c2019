// A pass that fails leaves a reproducer: the IR it was given and the pipeline, in a file that fails again.

// RUN: rm -f %t.mlir
// RUN: not qd-opt %s --pass-pipeline='builtin.module(canonicalize, qd-verify-convergence{wave=32})' --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE --input-file=%t.mlir
// RUN: not qd-opt %t.mlir --run-reproducer 2>&1 | FileCheck %s

// The last pass alone, with the IR as it was before it.
// RUN: not qd-opt %s --pass-pipeline='builtin.module(canonicalize, qd-verify-convergence{wave=32})' --mlir-pass-pipeline-crash-reproducer=%t.local.mlir --mlir-pass-pipeline-local-reproducer --mlir-disable-threading 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOCAL --input-file=%t.local.mlir

// CHECK: error: 'qd.simt.reduce_all' op
// FILE: qd.grid.kernel @divergent(
// FILE: mlir_reproducer: {
// FILE: pipeline: "builtin.module(canonicalize{{.*}}, qd-verify-convergence{wave=32})"
// LOCAL: pipeline: "builtin.module(qd-verify-convergence{wave=32})"

qd.grid.kernel @divergent(%a: memref<?xi32>, %blocks: index) {
  qd.grid.phase blocks(%blocks) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %zero = arith.constant 0 : i32
    %positive = arith.cmpi sgt, %v, %zero : i32
    scf.if %positive {
      %sum = qd.simt.reduce_all add %v : i32
      memref.store %sum, %a[%t] : memref<?xi32>
    }
  }
}
