// qd-opt takes mlir-opt's flags, and our passes are like any other to them: by name, in pipelines, nested, timed, and with the IR
// printed after each.

// RUN: qd-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// DIALECTS: {{[:,]}}arith,{{.*}},qd,{{.*}}spirv

// RUN: qd-opt --help | FileCheck %s --check-prefix=HELP
// What mlir-opt has not comes first.
// HELP: USAGE: qd-opt FILE [--to=<level> [--target=<target>]]
// HELP: --to=<level>{{.*}} algo, grid, plan, subgroup, target
// HELP-NEXT: --target=<target>
// HELP-NEXT: --trace=<file>
// HELP: print-plan=true
// HELP: QD_LOG=info
// HELP: --qd-to-plan{{.*}} plan of launches
// HELP: --qd-select-subgroup-size{{.*}} Choose the subgroup size
// HELP-NEXT: wave {{.*}}64 (32)
// HELP: OVERVIEW: qd optimizer driver
// HELP: --qd-expand-for-each - Expand elementwise phases into plain ones
// HELP: --qd-select-subgroup-size - Choose the subgroup size
// HELP-NEXT: --wave=<string>
// HELP: --pass-pipeline=

// A pass alone, a list of them, and a nested one.
// RUN: qd-opt %s --qd-expand-for-each | FileCheck %s --check-prefix=EXPANDED
// RUN: qd-opt %s --pass-pipeline='builtin.module(qd-expand-for-each, qd.grid.kernel(cse), canonicalize)' | FileCheck %s --check-prefix=EXPANDED
// EXPANDED: qd.grid.kernel @count(
// EXPANDED-NOT: qd.grid.for_each
// EXPANDED: qd.grid.phase "count"

// RUN: qd-opt %s --pass-pipeline='builtin.module(canonicalize, qd-expand-for-each)' --mlir-print-ir-before=qd-expand-for-each --mlir-print-ir-after-all 2>&1 | FileCheck %s --check-prefix=DUMP
// DUMP: IR Dump After Canonicalizer (canonicalize)
// DUMP: qd.grid.for_each "count"
// DUMP: IR Dump Before qd-expand-for-each (qd-expand-for-each)
// DUMP: qd.grid.for_each "count"
// DUMP: IR Dump After qd-expand-for-each (qd-expand-for-each)
// DUMP-NOT: qd.grid.for_each
// DUMP: qd.grid.phase "count"

// One file a pass, in folders that follow the nesting.
// RUN: rm -rf %t.tree
// RUN: qd-opt %s --pass-pipeline='builtin.module(qd-expand-for-each, qd.grid.kernel(cse))' --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.tree -o %t
// RUN: FileCheck %s --check-prefix=EXPANDED --input-file=%t.tree/builtin_module_no-symbol-name/0_qd-expand-for-each.mlir
// RUN: FileCheck %s --check-prefix=EXPANDED --input-file=%t.tree/builtin_module_no-symbol-name/qd_grid_kernel_count/0_0_cse.mlir

// RUN: qd-opt %s --qd-expand-for-each --canonicalize --mlir-timing --mlir-timing-display=list -o %t 2>&1 | FileCheck %s --check-prefix=TIMING
// TIMING: Execution time report
// TIMING-DAG: qd-expand-for-each
// TIMING-DAG: Canonicalizer

// What a pass leaves is verified after it; here nothing is.
// RUN: qd-opt %s --qd-expand-for-each --verify-each=false | FileCheck %s --check-prefix=EXPANDED

// Bytecode, and back; the reader knows it by its first bytes.
// RUN: qd-opt %s --emit-bytecode -o %t.mlirbc
// RUN: %python -c 'import sys; sys.exit(open(sys.argv[1], "rb").read(4) != b"ML\xefR")' %t.mlirbc
// RUN: qd-opt %t.mlirbc --qd-expand-for-each | FileCheck %s --check-prefix=EXPANDED

// RUN: qd-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// GENERIC: "qd.grid.kernel"() <{function_type = (memref<?xi32>, index) -> (), sym_name = "count"}> ({
// GENERIC: "qd.grid.for_each"(%arg1) <{name = "count"}> ({

// RUN: qd-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=LOCATIONS
// LOCATIONS: qd.grid.kernel @count(%arg0: memref<?xi32> loc({{.*}}:[[#KERNEL:]]:{{.*}}), %arg1: index loc(
// LOCATIONS: = loc("{{.*}}driver.mlir":[[#KERNEL]]:1)

qd.grid.kernel @count(%a: memref<?xi32>, %len: index) {
  qd.grid.for_each "count" %i to %len {
    %x = arith.index_cast %i : index to i32
    memref.store %x, %a[%i] : memref<?xi32>
  }
}
