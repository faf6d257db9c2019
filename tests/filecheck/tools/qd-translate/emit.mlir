// A module as each thing a target can be given, and an artifact as a file that runs.

// RUN: qd-translate %s --emit=llvm-ir | FileCheck %s --check-prefix=IR
// IR: define void @{{.*}}(i64 {{.*}}, i64 {{.*}}, i64 {{.*}}, ptr {{.*}})
// RUN: qd-translate %s --target=cpu,wave=8 --emit=asm | FileCheck %s --check-prefix=ASM
// ASM: .text
// RUN: qd-translate %s --emit=obj -o %t.o && llvm-objdump -t %t.o | FileCheck %s --check-prefix=OBJ
// OBJ: g     F .text {{.*}} add
// RUN: qd-translate %s --emit=plan | FileCheck %s --check-prefix=PLAN
//  PLAN: "targets": [
//  PLAN-NEXT: "cpu"
//  PLAN: "name": "a",
//  PLAN: "is_input": true
//  PLAN: "steps": [
//  PLAN: "launch": {
//  PLAN: "name": "add one",
//  PLAN: "needs": {
//  PLAN-NEXT: "device": "{{.+}}",
//  PLAN-NEXT: "features": [
//  PLAN: "modules": [
//  PLAN: "format": "object",

// RUN: qd-translate %s --target=cpu,wave=16 -o %t.qdart
// RUN: qd-run %t.qdart --arg a=iota[4] --print a | FileCheck %s --check-prefix=RAN
// RAN: add on cpu,wave=16, wave 16
// RAN: a = [1, 2, 3, 4]

// An artifact that was damaged, or is for another target than asked for, is not run.
// RUN: head -c 100 %t.qdart > %t.cut
// RUN: not qd-run %t.cut 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: qd-run: {{.*}}.cut: the artifact is damaged: it is cut short
// RUN: cp %t.qdart %t.longer && echo >> %t.longer
// RUN: not qd-run %t.longer 2>&1 | FileCheck %s --check-prefix=LONGER
// LONGER: qd-run: {{.*}}.longer: the artifact is damaged: 1 bytes too many
// RUN: not qd-run %t.qdart --target=vulkan:1.3 --arg a=iota[4] 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: qd-run: {{.*}}: the artifact was made for target 'cpu,wave=16', not for 'vulkan:1.3'
// RUN: not qd-run %t.qdart --interpret --arg a=iota[4] 2>&1 | FileCheck %s --check-prefix=INTERPRET
// INTERPRET: qd-run: {{.*}}: an artifact cannot be interpreted: give its module

// One message each, and nothing is written.
// RUN: rm -f %t.none
// RUN: not qd-translate %s --target=abacus -o %t.none 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: qd-translate: unknown target 'abacus': expected one of any, cpu
// RUN: not qd-translate %t.nowhere -o %t.none 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: qd-translate: {{.*}}.nowhere: there is no such file
// RUN: not qd-translate %t.o -o %t.none 2>&1 | FileCheck %s --check-prefix=NO-MODULE
// NO-MODULE: error:
// RUN: not ls %t.none
// RUN: not qd-translate %s -o %t.none/x 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: qd-translate: {{.*}}.none/x: No such file or directory
// RUN: not qd-translate %s -o /dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: qd-translate: /dev/full: No space left on device

qd.grid.kernel @add(%a: memref<?xi32> {qd.name = "a"}) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each "add one" %i to %len {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %one : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
