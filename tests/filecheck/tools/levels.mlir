// --to=<level> stops at a level of the lowering pipeline, --target says for whom; a level or a target that does not exist is one message and exit
// code 1, and nothing is written.

// RUN: qd-opt %s --to=algo | FileCheck %s --check-prefix=ALGO
// RUN: qd-opt %s --to=grid | FileCheck %s --check-prefix=GRID
// RUN: qd-opt %s --to=grid --target=cpu | FileCheck %s --check-prefix=GRID
// RUN: qd-opt %s -to=grid -target=any | FileCheck %s --check-prefix=GRID
// RUN: qd-opt %s --to=plan | FileCheck %s --check-prefix=PLAN
// RUN: qd-opt %s --to=subgroup | FileCheck %s --check-prefix=TILED

// The value may follow a space, and passes run where they stand: before or behind.
// RUN: qd-opt %s --to plan --target cpu | FileCheck %s --check-prefix=PLAN
// RUN: qd-opt %s --symbol-privatize --to=plan --symbol-dce | FileCheck %s --check-prefix=EMPTY
// EMPTY: module {
// EMPTY-NEXT: }

// A level's output is the next one's input.
// RUN: qd-opt %s --to=grid | qd-opt --to=plan | FileCheck %s --check-prefix=PLAN

// ALGO: qd.algo.reduce add
// GRID-NOT: qd.algo.
// GRID: qd.grid.phase
// PLAN-NOT: qd.grid.phase
// PLAN: qd.grid.launch 0
// TILED: func.func private @{{.*}}qd.wave = {{[0-9]+}}

// RUN: sh -c 'qd-opt %s --to=nowhere -o %t.nowhere 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=LEVEL
// RUN: not ls %t.nowhere
// RUN: sh -c 'qd-opt %s --to=grid --target=nowhere -o %t.nowhere 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=TARGET
// RUN: not ls %t.nowhere
// RUN: sh -c 'qd-opt %s --target=cpu -o %t.nowhere 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=ALONE
// RUN: not ls %t.nowhere

// RUN: sh -c 'qd-opt %s --to=plan --to=grid -o %t.nowhere 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=TWICE
// TWICE: qd-opt: --to is given twice
// RUN: sh -c 'qd-opt %s --to -o %t.nowhere 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=VALUE
// VALUE: qd-opt: unknown level '-o'
// RUN: sh -c 'qd-opt %s --to 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=NO-VALUE
// NO-VALUE: qd-opt: --to needs a value: --to=<level>, one of algo, grid, plan, subgroup, target
// RUN: sh -c 'qd-opt %s --to=plan --pass-pipeline="builtin.module(cse)" -o %t.nowhere 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: qd-opt: --to and --pass-pipeline are two pipelines
// RUN: sh -c 'qd-opt %s --to=plan --target=cpu,wave=8,wave=16 -o %t.nowhere 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=OPTION
// OPTION: qd-opt: option 'wave' of target 'cpu' is given twice
// RUN: not ls %t.nowhere

// LEVEL: qd-opt: unknown level 'nowhere': expected one of algo, grid, plan, subgroup, target
// TARGET: qd-opt: unknown target 'nowhere': expected one of {{.*}}cpu
// ALONE: qd-opt: --target goes with --to=<level>

qd.grid.kernel @sum(%a: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}
