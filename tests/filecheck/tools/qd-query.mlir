// qd-query finds operations by matchers and names their places; our ops are like any other to it.

// RUN: qd-query %s -c 'm hasOpName("qd.simt.reduce")' | FileCheck %s --check-prefix=NAME
// NAME: qd-query.mlir:[[#@LINE+16]]:12: note: "root" binds here
// NAME: 1 match.

// RUN: qd-query %s -c 'm anyOf(hasOpName("qd.simt.reduce"), hasOpAttrName("tile"))' | FileCheck %s --check-prefix=ANY
// ANY: 2 matches.

// What is wrong is a message and exit code 1.
// RUN: sh -c 'qd-query %s -c "m nosuch()" 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=MATCHER
// MATCHER: Matcher not found: nosuch
// RUN: sh -c 'echo "qd.simt.nosuch" | qd-query - -c "m isZero()" 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=BAD
// BAD: <stdin>:1:1: error: custom op 'qd.simt.nosuch' is unknown

qd.grid.kernel @k(%a: memref<?xf32>, %n: index) {
  qd.grid.phase "sums" blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xf32>
    %sum = qd.simt.reduce add %v : f32
    %all = qd.simt.reduce_all add %sum tile(3) : f32
    memref.store %all, %a[%t] : memref<?xf32>
  }
}
