// An artifact for several targets, of which no device is needed, and of some of the kernels alone.

// RUN: qd-translate %s --target=nvptx:sm_90 --target=vulkan:1.3,subgroup=8 --target=cpu,wave=8 --emit=artifact -o %t.qdart
// RUN: qd-translate %t.qdart --emit=plan-html | FileCheck %s --check-prefix=PAGE
// PAGE: <h2 id="one">
// PAGE: <h3>nvptx:sm_90</h3>
// PAGE: <h3>vulkan:1.3,subgroup=8</h3>
// PAGE: <h3>cpu,wave=8</h3>
// PAGE: <h2 id="two">

// What is run is the one that is asked for.
// RUN: qd-run %t.qdart --entry=two --target=cpu --arg 'a=[1, 2]' --print a | FileCheck %s --check-prefix=RESULT
// RUN: not qd-run %t.qdart --entry=two --target=metal --arg 'a=[1, 2]' 2>&1 | FileCheck %s --check-prefix=LACKS
// RESULT: two on cpu,wave=8, wave 8
// RESULT: a = [3, 4]
// LACKS: qd-run: {{.*}}.qdart: the artifact was made for target 'nvptx:sm_90' and 'vulkan:1.3,subgroup=8' and 'cpu,wave=8', not for 'metal'

// RUN: qd-translate %s --kernel=two --emit=plan | FileCheck %s --check-prefix=KERNEL --implicit-check-not='"name": "one"'
// KERNEL: "name": "two"

// RUN: not qd-translate %s --kernel=two --kernel=three -o %t.none 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: qd-translate: there is no kernel 'three': the module has one, two
// RUN: not qd-translate %s --target=cpu --target=abacus --target=cpu,wave=5 -o %t.none 2>&1 | FileCheck %s --check-prefix=TARGETS
// TARGETS:      qd-translate: unknown target 'abacus': expected one of any, cpu
// TARGETS-NEXT: qd-translate: target 'cpu' has no wave of '5': expected one of 4, 8, 16, 32, 64
// RUN: not qd-translate %s --target=cpu, -o %t.none 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: qd-translate: target 'cpu,' has an empty option: expected NAME=VALUE after each comma
// RUN: not qd-translate %s --target=cpu --target=nvptx:sm_90 --emit=asm -o %t.none 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: qd-translate: only an artifact is for several targets
// RUN: not ls %t.none

qd.grid.kernel @one(%a: memref<?xi32> {qd.name = "a"}) {
  %zero = arith.constant 0 : index
  %n = memref.dim %a, %zero : memref<?xi32>
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.muli %x, %x : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
qd.grid.kernel @two(%a: memref<?xi32> {qd.name = "a"}) {
  %zero = arith.constant 0 : index
  %n = memref.dim %a, %zero : memref<?xi32>
  %number = arith.constant 2 : i32
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %number : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
