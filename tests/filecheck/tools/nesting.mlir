// Too deep nesting, and too much host arithmetic or inlining, is a located error, from every reader: no stack overflows.
// NO-ROUNDTRIP: the modules are made by a script

// DEFINE: %{make} = %python %S/Inputs/nesting.py
// DEFINE: %{check} = FileCheck %s --check-prefix=DEEP
// RUN: rm -rf %t
// RUN: %{make} %t

// RUN: sh -c 'for f in modules ifs types attributes locations; do qd-opt %t/$f.mlir 2>&1; test $? -eq 1 || exit 2; done' | %{check}
// RUN: sh -c 'for f in modules ifs types attributes locations; do qd-run %t/$f.mlir 2>&1; test $? -eq 1 || exit 2; done' | %{check}
// RUN: sh -c 'for f in modules ifs types attributes locations; do qd-translate %t/$f.mlir 2>&1; test $? -eq 1 || exit 2; done' | %{check}
// DEEP: modules.mlir:1025:8: error: is nested more than 1024 levels deep, which is the most that is read
// DEEP: ifs.mlir:[[#]]:[[#]]: error: is nested more than 1024 levels deep
// DEEP: types.mlir:1:[[#]]: error: is nested more than 1024 levels deep
// DEEP: attributes.mlir:1:[[#]]: error: is nested more than 1024 levels deep
// DEEP: locations.mlir:1:[[#]]: error: is nested more than 1024 levels deep

// In comments, strings, arrows and comparisons nothing is nested; beside one another there may be as many as one likes.
// RUN: qd-opt %t/flat.mlir --split-input-file | FileCheck %s --check-prefix=FLAT
// FLAT: @flat

// Bytecode has no brackets to count.
// RUN: sh -c 'ulimit -s unlimited; mlir-opt-22 %t/modules.mlir --emit-bytecode -o %t/modules.mlirbc'
// RUN: sh -c 'qd-translate %t/modules.mlirbc 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=BYTECODE
// RUN: sh -c 'qd-run %t/modules.mlirbc 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=BYTECODE
// BYTECODE: error: is nested more than 1024 levels deep, which is the most that is read

// What goes straight to upstream's readers has a large stack.
// RUN: qd-opt %t/modules.mlirbc -o %t/out
// RUN: %python %S/Inputs/lsp.py %t/modules.mlir | FileCheck %s --check-prefix=SERVER
// SERVER: diagnostics 0
// SERVER: exit 0

// What is just not too deep is compiled and run.
// RUN: qd-run %t/valid.mlir --arg a=[1000] --print a -q | FileCheck %s --check-prefix=VALID
// RUN: qd-run %t/valid.mlir --arg a=[1000] --print a -q --interpret | FileCheck %s --check-prefix=VALID
// VALID: a = [60]

// Also 1,000 branches and 100 loops in one another, by every target. Loops run once each, which nobody knows. spirv-val takes a
// minute for the branches, and seconds for half as many: it sees the loops.
// RUN: qd-run %t/branches.mlir --arg a=[2000] --print a -q | FileCheck %s --check-prefix=BRANCHES
// RUN: qd-run %t/branches.mlir --arg a=[2000] --print a -q --interpret | FileCheck %s --check-prefix=BRANCHES
// BRANCHES: a = [1000]
// RUN: qd-run %t/loops.mlir --arg a=[0] --print a -q | FileCheck %s --check-prefix=LOOPS
// RUN: qd-run %t/loops.mlir --arg a=[0] --print a -q --interpret | FileCheck %s --check-prefix=LOOPS
// LOOPS: a = [100]
// RUN: sh -c 'for f in branches loops; do qd-translate %t/$f.mlir --target=nvptx:sm_90 -o %t/out || exit 1; done'
// RUN: qd-translate %t/loops.mlir --target=vulkan:1.3,subgroup=32 -o %t/out
// RUN: env -u QD_SPIRV_VAL qd-translate %t/branches.mlir --target=vulkan:1.3,subgroup=32 -o %t/out

// Chains and trees of the host's arithmetic; the longest that may be is in the artifact and comes out of it.
// RUN: sh -c 'qd-translate %t/chain.mlir 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=CHAIN
// CHAIN: chain.mlir:130:[[#]]: error: 'arith.addi' op is the last of more than 128 operations that the host does one after another for one value
// RUN: sh -c 'qd-translate %t/tree.mlir 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=TREE
// TREE: tree.mlir:[[#]]:[[#]]: error: 'arith.addi' op makes the host's expression for one value hold more than 10000 operations
// RUN: qd-translate %t/shorter.mlir -o %t/shorter.qdart
// RUN: qd-run %t/shorter.qdart --arg a=zeros[200] --arg n=1 --print a -q | FileCheck %s --check-prefix=SHORTER
// SHORTER: a = [7, 7,

// Functions that double.
// RUN: sh -c 'qd-translate %t/doubling.mlir 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=DOUBLING
// DOUBLING: doubling.mlir:[[#]]:[[#]]: error: 'func.call' op makes inlining come to more than 1000000 ops
