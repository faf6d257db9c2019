// Names are bytes to MLIR. Those that are no UTF-8, in a module, of a file or on the command line, work or are an error: nothing panics.
// NO-ROUNDTRIP: the command line is the subject

// RUN: split-file %s %t

// DEFINE: %{how} = --target=cpu
// DEFINE: %{run} = qd-run %t/names.mlir %{how} --entry='k\FF' --arg 'a\FF=[1, 2]' --arg o=zeros[2] --print o
// RUN: %{run} | FileCheck %s
// REDEFINE: %{how} = --interpret
// RUN: %{run} | FileCheck %s
// CHECK: k\FF{{ on cpu|, interpreted}}
// CHECK: a\FF i32[2]
// CHECK: o = [2, 4]
// RUN: qd-opt %t/names.mlir --to=target
// RUN: qd-translate %t/names.mlir --target=nvptx:sm_90 --emit=asm | FileCheck %s --check-prefix=PTX
// PTX: .entry p_FF_{{[0-9a-f]+}}(
// RUN: qd-translate %t/names.mlir --target=vulkan:1.3 -o %t/names.spirv

// Two names that differ in such a byte are two names.
// RUN: qd-run %t/bodies.mlir --arg o=zeros[64] --print o -q | FileCheck %s --check-prefix=BODIES
// RUN: qd-run %t/bodies.mlir --arg o=zeros[64] --print o -q --interpret | FileCheck %s --check-prefix=BODIES
// BODIES: o = [3, 3,
// RUN: not qd-translate %t/bodies.mlir --target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=SPELL
// SPELL: bodies.mlir:1:1: error: 'func.func' op is named 'b\FF_{{[0-9a-f]+}}', which target 'nvptx:sm_90' cannot spell

// Messages.
// RUN: not qd-translate %t/twice.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not qd-run %t/twice.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not qd-opt %t/twice.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: twice.mlir:3:1: error: redefinition of symbol named '

// Files and arguments.
// RUN: sh -c 'cp %t/names.mlir %t/$(printf "n\377.mlir")'
// RUN: sh -c 'qd-opt %t/$(printf "n\377.mlir") --to=plan' | FileCheck %s --check-prefix=PLAN
// PLAN: qd.grid.launch 0 @k_FF_p_FF_0
// RUN: sh -c 'qd-run %t/$(printf "n\377.mlir") --arg "0=[1, 2]" --arg o=zeros[2] --print o -q' | FileCheck %s --check-prefix=RUN-FILE
// RUN-FILE: o = [2, 4]
// RUN: sh -c 'qd-translate %t/$(printf "n\377.mlir") -o %t/$(printf "o\377")'
// RUN: sh -c 'qd-run %t/$(printf "o\377") --arg "0=[1, 2]" --arg o=zeros[2] --print o -q' | FileCheck %s --check-prefix=RUN-FILE
// RUN: sh -c 'qd-opt %t/names.mlir $(printf -- "--f\377oo") 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=FLAG
// FLAG: Unknown command line argument
// RUN: sh -c 'qd-run %t/names.mlir --arg $(printf "a\377=1") 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: error: invalid UTF-8

//--- names.mlir
func.func private @"f\FF"(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  return %y : i32
}
func.func private @"f\FE"(%x: i32) -> i32 {
  return %x : i32
}
qd.grid.kernel @"k\FF"(%a: memref<?xi32> {qd.name = "a\FF"}, %o: memref<?xi32> {qd.name = "o"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each "p\FF" %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = func.call @"f\FF"(%x) : (i32) -> i32
    %z = func.call @"f\FE"(%y) : (i32) -> i32
    memref.store %z, %o[%i] : memref<?xi32>
  }
}
//--- bodies.mlir
func.func private @"b\FF"(%o: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %one = arith.constant 1 : i32
  %x = memref.load %o[%t] : memref<?xi32>
  %y = arith.addi %x, %one : i32
  memref.store %y, %o[%t] : memref<?xi32>
  return
}
func.func private @"b\FE"(%o: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %two = arith.constant 2 : i32
  %x = memref.load %o[%t] : memref<?xi32>
  %y = arith.addi %x, %two : i32
  memref.store %y, %o[%t] : memref<?xi32>
  return
}
qd.grid.kernel @k(%o: memref<?xi32> {qd.name = "o"}) {
  %c1 = arith.constant 1 : index
  qd.grid.launch 0 @"b\FF" blocks(%c1) args(%o : memref<?xi32>)
  qd.grid.launch 1 @"b\FE" blocks(%c1) args(%o : memref<?xi32>) after [0]
}
//--- twice.mlir
qd.grid.kernel @"k\FF"() {
}
qd.grid.kernel @"k\FF"() {
}
