// Bad input gets a located message and exit code 1, whatever is bad about it; nothing is written, nothing crashes.
// NO-ROUNDTRIP: most parts are not valid IR, which is their subject

// RUN: split-file %s %t

// RUN: sh -c 'qd-opt %t/unfinished.mlir -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=UNFINISHED
// UNFINISHED: unfinished.mlir:2:[[#]]: error: expected
// RUN: sh -c 'qd-opt %t/unknown-op.mlir -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=UNKNOWN-OP
// UNKNOWN-OP: unknown-op.mlir:2:8: error: custom op 'qd.simt.shuffel' is unknown
// RUN: sh -c 'qd-opt %t/unknown-value.mlir -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=UNKNOWN-VALUE
// UNKNOWN-VALUE: unknown-value.mlir:2:[[#]]: error: use of undeclared SSA value name
// RUN: sh -c 'qd-opt %t/wrong-type.mlir -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=WRONG-TYPE
// WRONG-TYPE: wrong-type.mlir:2:[[#]]: error: use of value '%v' expects different type than prior uses: 'i32' vs 'f32'
// RUN: sh -c 'qd-opt %t/no-type.mlir -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=NO-TYPE
// NO-TYPE: no-type.mlir:2:37: error: expected ':'
// RUN: sh -c 'qd-opt %t/no-scratch.mlir -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=NO-SCRATCH
// NO-SCRATCH: no-scratch.mlir:2:[[#]]: error: custom op 'qd.algo.reduce' expected 'scratch'
// RUN: sh -c 'qd-opt %t/bad-attribute.mlir -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=ATTRIBUTE
// ATTRIBUTE: bad-attribute.mlir:2:[[#]]: error: expected {{.*}} to be one of: add, mul, minsi, minui, minnumf, maxsi, maxui, maxnumf, and, or, xor
// RUN: sh -c 'qd-opt %t/generic.mlir -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=GENERIC
// GENERIC: generic.mlir:2:8: error: 'qd.simt.reduce' op
// GENERIC-NOT: UNKNOWN
// RUN: sh -c 'qd-opt %t/no-body.mlir -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=NO-BODY
// NO-BODY: no-body.mlir:1:35: error: expected '{' to begin a region
// RUN: sh -c 'qd-opt %t/symbol-twice.mlir -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=TWICE
// TWICE: symbol-twice.mlir:3:1: error: redefinition of symbol named 'k'

// Bytecode that upstream's reader refuses without a word.
// RUN: not qd-translate %S/Inputs/unexplained.mlirbc -o %t/out 2>&1 | FileCheck %s --check-prefix=UNEXPLAINED
// UNEXPLAINED: unexplained.mlirbc:0:0: error: is not valid bytecode

// Bytes that are no IR, bytecode that ends early, nothing at all, and files that are not there.
// RUN: %python -c 'import sys; open(sys.argv[1], "wb").write(bytes(range(256)))' %t/bytes
// RUN: not qd-opt %t/bytes -o %t/out 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: bytes:1:{{[0-9]+}}: error:
// RUN: qd-opt %t/valid.mlir --emit-bytecode -o %t/valid.mlirbc
// RUN: %python -c 'import sys; b = open(sys.argv[1], "rb").read(); [open(sys.argv[1] + str(i), "wb").write(b[: len(b) * i // 8]) for i in range(1, 8)]' %t/valid.mlirbc
// RUN: sh -c 'for i in 1 2 3 4 5 6 7; do qd-opt %t/valid.mlirbc$i -o %t/out 2>&1; test $? -eq 1 || exit 2; done' | FileCheck %s --check-prefix=TRUNCATED
// TRUNCATED-COUNT-7: error:
// RUN: qd-opt %t/empty.mlir | FileCheck %s --check-prefix=EMPTY
// EMPTY: module {
// RUN: sh -c 'qd-opt %t/nowhere.mlir -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=NO-FILE
// NO-FILE: cannot open input file '{{.*}}nowhere.mlir': No such file or directory
// RUN: sh -c 'qd-opt %t/valid.mlir -o %t/nowhere/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=NO-FOLDER
// NO-FOLDER: cannot open output file '{{.*}}out': No such file or directory

// Flags, passes and options that do not exist.
// RUN: sh -c 'qd-opt %t/valid.mlir --qd-select-subgroup-sise -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=NO-FLAG
// NO-FLAG: Unknown command line argument '--qd-select-subgroup-sise'
// NO-FLAG: Did you mean '--qd-select-subgroup-size'?
// RUN: sh -c 'qd-opt %t/valid.mlir --pass-pipeline="builtin.module(canonicalize,qd-tyle)" -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=NO-PASS
// NO-PASS: error: 'qd-tyle' does not refer to a registered pass or pass pipeline
// NO-PASS-NEXT: canonicalize,qd-tyle
// NO-PASS-NEXT: {{^ +}}^
// RUN: sh -c 'qd-opt %t/valid.mlir --pass-pipeline="builtin.module(qd-select-subgroup-size{wave=thirty})" -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=NO-NUMBER
// NO-NUMBER: error: pass 'qd-select-subgroup-size': option 'wave': cannot read 'thirty'
// RUN: sh -c 'qd-opt %t/valid.mlir --pass-pipeline="builtin.module(qd-select-subgroup-size{wav=32})" -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=NO-OPTION
// NO-OPTION: no such option wav
// RUN: sh -c 'qd-opt %t/valid.mlir --pass-pipeline="builtin.module(func.func(qd-select-subgroup-size))" -o %t/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=NESTED
// NESTED: Can't add pass 'qd-select-subgroup-size' restricted to 'builtin.module' on a PassManager intended to run on 'func.func'

// RUN: not ls %t/out

//--- valid.mlir
qd.grid.kernel @k(%a: memref<?xi32>, %len: index) {
  qd.grid.for_each %i to %len {
    %x = arith.index_cast %i : index to i32
    memref.store %x, %a[%i] : memref<?xi32>
  }
}
//--- unfinished.mlir
qd.grid.kernel @k(%a: memref<?xi32>, %len: index) {
  qd.grid.for_each %i to
//--- unknown-op.mlir
func.func @f(%v: f32, %lane: i32) {
  %0 = qd.simt.shuffel idx %v, %lane : f32
  return
}
//--- unknown-value.mlir
func.func @f(%v: f32) {
  %0 = qd.simt.shuffle idx %v, %lane : f32
  return
}
//--- wrong-type.mlir
func.func @f(%v: f32, %lane: i32) {
  %0 = qd.simt.shuffle idx %v, %lane : i32
  return
}
//--- no-type.mlir
func.func @f(%v: f32, %lane: i32) {
  %0 = qd.simt.shuffle idx %v, %lane
  return
}
//--- no-scratch.mlir
qd.grid.kernel @k(%a: memref<?xi32>, %out: memref<1xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>) count(%n : memref<i32>) log256_max_n = 1
}
//--- bad-attribute.mlir
func.func @f(%v: f32) {
  %0 = "qd.simt.reduce"(%v) ({}) {kind = #qd.kind<sum>} : (f32) -> f32
  return
}
//--- generic.mlir
func.func @f(%v: f32) {
  %0 = "qd.simt.reduce"(%v) ({}) {kind = 7 : i32} : (f32) -> f32
  return
}
//--- no-body.mlir
qd.grid.kernel @k(%n: memref<i32>)
qd.grid.kernel @l(%n: memref<i32>)
//--- symbol-twice.mlir
qd.grid.kernel @k() {
}
qd.grid.kernel @k() {
}
//--- empty.mlir
