// Chunks are read and processed one by one; what is expected of each is checked, and so is that nothing else is said.

// RUN: qd-opt %s --split-input-file --verify-diagnostics --qd-expand-for-each | FileCheck %s
// Without --verify-diagnostics the invalid chunk is an error, and the others are still processed.
// RUN: not qd-opt %s --split-input-file --qd-expand-for-each 2>&1 | FileCheck %s --check-prefixes=CHECK,ERROR
// Nothing is expected of the first chunk's copy without comments, so what it says is not.
// RUN: grep -v '//[ ]expected' %s > %t.mlir
// RUN: not qd-opt %t.mlir --split-input-file --verify-diagnostics 2>&1 | FileCheck %s --check-prefix=UNEXPECTED
// RUN: sed 's/threads(1025)/threads(128)/' %s > %t.valid.mlir
// RUN: not qd-opt %t.valid.mlir --split-input-file --verify-diagnostics 2>&1 | FileCheck %s --check-prefix=MISSING

// ERROR-DAG: split.mlir:[[#]]:3: error: 'qd.grid.phase' op 'threads' must be from 1 to 1024
// UNEXPECTED: error: unexpected error: 'qd.grid.phase' op 'threads' must be from 1 to 1024
// MISSING: error: expected error "'threads' must be from 1 to 1024" was not produced

// CHECK-LABEL: qd.grid.kernel @first(
// CHECK: qd.grid.phase
qd.grid.kernel @first(%a: memref<?xi32>, %len: index) {
  qd.grid.for_each %i to %len {
    %x = arith.index_cast %i : index to i32
    memref.store %x, %a[%i] : memref<?xi32>
  }
}

// -----

qd.grid.kernel @invalid(%blocks: index) {
  // expected-error@+1 {{'threads' must be from 1 to 1024}}
  qd.grid.phase blocks(%blocks) threads(1025) {
  }
}

// -----

// CHECK: // {{-----}}
// CHECK-LABEL: qd.grid.kernel @last(
// CHECK: qd.grid.phase
qd.grid.kernel @last(%a: memref<?xi32>, %len: index) {
  qd.grid.for_each %i to %len {
    %x = arith.index_cast %i : index to i32
    memref.store %x, %a[%i] : memref<?xi32>
  }
}
