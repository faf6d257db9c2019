// Modules that are not right: MLIR's own message with file, line and column, and nothing else; and names that are not
// there, answered by those that are.

// NO-ROUNDTRIP: modules that are not valid are the subject
// RUN: split-file %s %t

// RUN: not qd-run %t/malformed.mlir 2>&1 | FileCheck %s --check-prefix=MALFORMED
//      MALFORMED: {{.*}}malformed.mlir:2:29: error: expected SSA operand
// MALFORMED-NEXT: {{^}}  qd.grid.for_each "x" %i to
// MALFORMED-NEXT: {{^ +\^$}}
// MALFORMED-NOT: {{.}}

// RUN: not qd-run %t/unknown-op.mlir 2>&1 | FileCheck %s --check-prefix=OP --implicit-check-not=qd-run:
// OP: {{.*}}unknown-op.mlir:2:3: error: {{.*}}qd.grid.fase

// RUN: not qd-run %t/types.mlir 2>&1 | FileCheck %s --check-prefix=TYPES --implicit-check-not=qd-run:
// TYPES: {{.*}}types.mlir:3:3: error: 'qd.algo.reduce' op

// The same from bytecode's reader and from the reader of the other tool.
// RUN: not qd-translate %t/types.mlir 2>&1 | FileCheck %s --check-prefix=TYPES --implicit-check-not=qd-translate:

// RUN: not qd-run %t/dtype.mlir --arg a=[1] 2>&1 | FileCheck %s --check-prefix=DTYPE
//      DTYPE: {{.*}}dtype.mlir:1:1: error: 'qd.grid.kernel' op argument 0: 'qd.dtype' is "u64", but the elements are 'i32'
// DTYPE-NEXT: {{^}}qd.grid.kernel
// DTYPE-NEXT: {{^}}^
//  DTYPE-NOT: {{.}}

// RUN: not qd-run %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: qd-run: {{.*}}empty.mlir: there is no kernel in it

// RUN: not qd-run %t/nowhere.mlir 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: qd-run: {{.*}}nowhere.mlir: there is no such file

// RUN: not qd-run %S/Inputs/select.mlir 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: qd-run: {{.*}}select.mlir: there are several kernels, choose one with --entry: select, scale
// RUN: not qd-run %S/Inputs/select.mlir --entry=sort 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: qd-run: {{.*}}select.mlir: there is no kernel 'sort': the kernels in it are select, scale

// RUN: not qd-run %S/Inputs/add.mlir --target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: qd-run: unknown target 'abacus': expected one of any, cpu
// RUN: not qd-run %S/Inputs/add.mlir --target=cpu,wave=5 2>&1 | FileCheck %s --check-prefix=WAVE
// WAVE: qd-run: target 'cpu' has no wave of '5': expected one of 4, 8, 16, 32, 64
// RUN: not qd-run %S/Inputs/add.mlir --target=any 2>&1 | FileCheck %s --check-prefix=DRIVER
// DRIVER: qd-run: no driver for target 'any': the targets that can be run are cpu
// RUN: not qd-run %S/Inputs/add.mlir --interpret --wave=128 2>&1 | FileCheck %s --check-prefix=INTERPRETED
// INTERPRETED: qd-run: --wave=128: expected 4, 8, 16, 32 or 64
// RUN: not qd-run %S/Inputs/add.mlir --interpret --schedule=backwards 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: qd-run: --schedule=backwards: expected in-order or random:SEED

//--- malformed.mlir
qd.grid.kernel @k(%n: index) {
  qd.grid.for_each "x" %i to
//--- unknown-op.mlir
qd.grid.kernel @k() {
  qd.grid.fase
}
//--- types.mlir
qd.grid.kernel @k(%a: memref<?xi32>, %out: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // The output is of another type than the input.
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}
//--- dtype.mlir
qd.grid.kernel @k(%a: memref<?xi32> {qd.dtype = "u64"}) {
}
//--- empty.mlir
func.func @f() {
  return
}
