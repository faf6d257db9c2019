// qd-reduce leaves of a module what a test script finds interesting: here one kernel of two, and of its operations those that keep a
// collective alive on the way to level grid.

// RUN: env QD_OPT=qd-opt qd-reduce %s -reduction-tree='traversal-mode=0 test=%S/Inputs/has-reduce.sh' | FileCheck %s
// CHECK-NOT: @other
// CHECK: qd.grid.kernel @sums
// CHECK: qd.simt.reduce add
// CHECK-NOT: arith.
// CHECK: memref.store
// CHECK-NOT: memref.store

// Our passes make a module smaller as upstream's do.
// RUN: env QD_OPT=qd-opt qd-reduce %s -opt-reduction-pass='opt-pass=canonicalize test=%S/Inputs/has-reduce.sh' | FileCheck %s --check-prefix=PASS
// RUN: env QD_OPT=qd-opt qd-reduce %s -opt-reduction-pass='opt-pass=qd-fuse-phases test=%S/Inputs/has-reduce.sh' | FileCheck %s --check-prefix=PASS
// PASS: qd.simt.reduce add

// What is wrong is a message and exit code 1, and no file.
// RUN: sh -c 'qd-reduce %s -reduction-tree="traversal-mode=0 test=/bin/true" -o %t.out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=BORING
// BORING: qd-reduce.mlir:{{.*}} uninterested module will not be reduced
// RUN: sh -c 'qd-reduce %s -reduction-tree="traversal-mode=0 test=%t.nosuch" -o %t.out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=SCRIPT
// SCRIPT: qd-reduce: Error running interestingness test: posix_spawn failed: No such file or directory
// RUN: sh -c 'qd-reduce %t.nosuch -o %t.out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=FILE
// FILE: cannot open input file '{{.*}}nosuch': No such file or directory
// RUN: not ls %t.out

qd.grid.kernel @other(%a: memref<?xi32>) {
}

qd.grid.kernel @sums(%a: memref<?xf32>, %n: index) {
  qd.grid.phase "sums" blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xf32>
    %double = arith.addf %v, %v : f32
    %square = arith.mulf %double, %v : f32
    memref.store %square, %a[%t] : memref<?xf32>
    %sum = qd.simt.reduce add %v : f32
    memref.store %sum, %a[%t] : memref<?xf32>
  }
}
