// An mlir-opt that was built without our dialect reads and verifies it, canonicalizes it with the forms written in Rust,
// and runs our passes with their options, from the plugin.

// RUN: mlir-opt-22 --load-dialect-plugin=%qd_plugin --canonicalize %s | FileCheck %s --check-prefixes=CHECK,DIALECT
// RUN: mlir-opt-22 --load-dialect-plugin=%qd_plugin --load-pass-plugin=%qd_plugin --pass-pipeline='builtin.module(qd-expand-for-each,canonicalize)' %s | FileCheck %s --check-prefixes=CHECK,PASS

// The flag may be given twice, and the dialect may come second.
// RUN: mlir-opt-22 --load-pass-plugin=%qd_plugin --load-pass-plugin=%qd_plugin --load-dialect-plugin=%qd_plugin --pass-pipeline='builtin.module(qd-expand-algorithms{target=any})' %s -o %t

// Without the plugin the file means nothing, and without its passes the pipeline does not.
// RUN: not mlir-opt-22 %s 2>&1 | FileCheck %s --check-prefix=NO-DIALECT
// RUN: not mlir-opt-22 --load-dialect-plugin=%qd_plugin --pass-pipeline='builtin.module(qd-expand-for-each)' %s 2>&1 | FileCheck %s --check-prefix=NO-PASS
// RUN: not mlir-opt-22 --load-pass-plugin=%qd_plugin --load-dialect-plugin=%qd_plugin --pass-pipeline='builtin.module(qd-expand-algorithms{tarpet=any})' %s 2>&1 | FileCheck %s --check-prefix=NO-OPTION
// RUN: not mlir-opt-22 --load-pass-plugin=%qd_plugin --load-dialect-plugin=%qd_plugin --qd-expand-for-each %s 2>&1 | FileCheck %s --check-prefix=NO-FLAG
// RUN: not mlir-opt-22 --load-dialect-plugin=%t.so %s 2>&1 | FileCheck %s --check-prefix=NO-FILE

// NO-DIALECT: error: Dialect `qd' not found for custom op 'qd.grid.kernel'
// NO-PASS: 'qd-expand-for-each' does not refer to a registered pass or pass pipeline
// NO-OPTION: <Pass-Options-Parser>: no such option tarpet
// NO-FLAG: Unknown command line argument '--qd-expand-for-each'
// NO-FILE: Failed to load dialect plugin from '{{.*}}plugin.mlir.tmp.so'

// CHECK-LABEL: qd.grid.kernel @spread(
qd.grid.kernel @spread(%a: memref<?xi32>, %blocks: index) {
  // CHECK: qd.grid.phase "spread"
  qd.grid.phase "spread" blocks(%blocks) threads(64) {
    %size = qd.simt.subgroup_size
    %same = qd.simt.broadcast_first %size : i32
    %t = qd.simt.block.thread_id
    // CHECK-NOT: broadcast_first
    // CHECK: memref.store
    memref.store %same, %a[%t] : memref<?xi32>
  }
  // DIALECT: qd.grid.for_each
  // PASS-NOT: qd.grid.for_each
  // PASS: qd.grid.phase
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each %i to %len {
    %v = arith.index_cast %i : index to i32
    memref.store %v, %a[%i] : memref<?xi32>
  }
}
