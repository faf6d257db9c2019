// A former name is an error that gives the new one, wherever it is used.

// RUN: not qd-opt %s --qd-tile=wave=32 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not qd-opt %s --pass-pipeline='builtin.module(qd-tile{wave=32})' 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not qd-opt %s --qd-to-tiled=target=cpu 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: not qd-opt %s --to=tiled 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not qd-opt %s --qd-verify-level=level=tiled 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not qd-opt %s --to=grid 2>&1 | FileCheck %s --check-prefix=STRATEGY

// PASS: error: pass 'qd-tile' is called 'qd-select-subgroup-size' now
// PIPELINE: pipeline 'qd-to-tiled' is called 'qd-to-subgroup' now
// LEVEL: qd-opt: level 'tiled' is called 'subgroup' now
// OPTION: option 'level': cannot read 'tiled': it is called 'subgroup' now
// STRATEGY: former-names.mlir:[[#@LINE+3]]:3: error: 'qd.algo.reduce' op has no strategy 'staircase': it is called 'hierarchical' now

qd.grid.kernel @k(%in: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%in : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 strategy = "staircase"
}
