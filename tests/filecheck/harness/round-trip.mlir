// The round trips that every file here is sent through do find what is lost on the way. The suite in Inputs/suite runs
// with a qd-opt that forgets an attribute when it reads bytecode, and prints another with a space too many.

// RUN: env QD_BIN_DIR=%S/Inputs/lossy-tools QD_EXEC_ROOT=%t REAL_QD_OPT=qd-opt not %lit -v -j1 %S/Inputs/suite | FileCheck %s

// CHECK-DAG: PASS: round-trip :: excused.mlir
// CHECK-DAG: PASS: round-trip :: expected-error.mlir
// CHECK-DAG: PASS: round-trip :: split-file.mlir
// CHECK-DAG: FAIL: round-trip :: no-reason.mlir
// CHECK-DAG: `// NO-ROUNDTRIP:` must be followed by the reason
// CHECK-DAG: FAIL: round-trip :: invalid.mlir
// CHECK-DAG: Round trip: the IR is not accepted. If it is not meant to be, mark each error with expected-error
// CHECK-DAG: FAIL: round-trip :: lossy.mlir
// CHECK-DAG: Round trip: reading bytecode does not give the same IR.
// CHECK-DAG: qd-opt --emit-bytecode {{.*}}lossy.mlir.round-trip/1.mlir -o
// CHECK-DAG: FAIL: round-trip :: spaced.mlir
// CHECK-DAG: Round trip: a printer puts spaces where there should be none.
// CHECK-DAG: func.func private @lost() attributes  {qd.spaced}|
// CHECK-DAG: Passed: 3
// CHECK-DAG: Failed: 4
