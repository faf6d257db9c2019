// Errors of the search have a place, and say what there is instead.

// RUN: split-file %s %t
// RUN: not qd-opt %t/good.mlir --qd-select-lowering=target=gpu 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not qd-opt %t/good.mlir --qd-select-lowering=target=any 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not qd-opt %t/good.mlir --to=subgroup --target=any,select 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 wave=64' 2>&1 | FileCheck %s --check-prefix=WAVE
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=cpu,fixed' 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='explain=perhaps' 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%S/Inputs/negative.json' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%S/Inputs/unknown.json' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%S/Inputs/field.json' 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%t/untargeted.json' 2>&1 | FileCheck %s --check-prefix=UNTARGETED
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%t/masks.json' 2>&1 | FileCheck %s --check-prefix=MASKS
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%t/masks-of-vote.json' 2>&1 | FileCheck %s --check-prefix=MASKS-OF-VOTE
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%t/no-masks.json' 2>&1 | FileCheck %s --check-prefix=NO-MASKS
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%t/kind.json' 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%t/kind-of-shuffle.json' 2>&1 | FileCheck %s --check-prefix=KIND-OF-SHUFFLE
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%t/far.json' 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%t/blank.json' 2>&1 | FileCheck %s --check-prefix=BLANK
// RUN: not qd-opt %t/good.mlir --qd-select-lowering='target=nvptx:sm_90 costs=%t/none.json' 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not qd-opt %t/pinned.mlir --qd-select-lowering=target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=PINNED
// RUN: not qd-opt %t/pinned.mlir --qd-select-lowering='target=cpu wave=8' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not qd-opt %t/cluster.mlir --qd-select-lowering=target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: not qd-opt %t/group.mlir --qd-select-lowering=target=cpu 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: not qd-opt %t/pins.mlir --qd-select-lowering=target=cpu 2>&1 | FileCheck %s --check-prefix=PINS

// TARGET: error: 'builtin.module' op unknown target 'gpu': expected one of any, cpu
// NONE: error: 'builtin.module' op there are no costs of target 'any': give a file by 'costs'
// OPTION: target 'any' has no option 'select': there are no costs of it
// WAVE: error: 'builtin.module' op cannot have subgroups of 64: 'nvptx:sm_90' has 32
// FIXED: error: 'builtin.module' op the option 'fixed' of a target leaves nothing to choose: leave it out
// FLAG: option 'explain': cannot read 'perhaps'
// NEGATIVE: negative.json:3:{{[0-9]+}}: error: 'use' of 'redux.sync' is negative: -1
// UNKNOWN: unknown.json:2:{{[0-9]+}}: error: target 'nvptx:sm_90' has no form 'redux.async'
// FIELD: field.json:2:{{[0-9]+}}: error: unknown field `delay`
// UNTARGETED: untargeted.json:2:{{[0-9]+}}: error: 'nonsense' has no targets
// MASKS: masks.json:2:{{[0-9]+}}: error: 'masks' of 'int': a shuffle has them alone
// MASKS-OF-VOTE: masks-of-vote.json:2:{{[0-9]+}}: error: 'masks' of 'match.any.sync': a shuffle has them alone
// NO-MASKS: no-masks.json:2:{{[0-9]+}}: error: 'masks' of 'shfl.sync' are none
// KIND: kind.json:2:{{[0-9]+}}: error: 'kind' of 'int': what combines values has one alone
// KIND-OF-SHUFFLE: kind-of-shuffle.json:2:{{[0-9]+}}: error: 'kind' of 'shfl.sync': what combines values has one alone
// FAR: far.json:2:{{[0-9]+}}: error: 'masks' of 'shfl.sync': 32 is not from 1 to 31, the lanes of target 'nvptx:sm_90'
// BLANK: blank.json:2:{{[0-9]+}}: error: 'int' has no source
// FILE: none.json:1:1: error: the file that 'costs' names cannot be read: No such file
// PINNED: pinned.mlir:1:1: error: 'func.func' op is for subgroups of 64, but target 'nvptx:sm_90' has 32
// TWICE: pinned.mlir:1:1: error: 'func.func' op is for subgroups of 64, and cannot be for 8
// CLUSTER: cluster.mlir:1:1: error: 'func.func' op can have no subgroup size: 32: a cluster has 64 lanes
// GROUP: error: 'func.func' op shares memory with bodies by subgroups, and no size suits all of them
// GROUP: note: not 32: a cluster has 64 lanes
// GROUP: note: not 64: 'qd.simt.reduce_all' op stands under control flow that is not uniform in its subgroup
// PINS: error: 'func.func' op shares memory with bodies by subgroups, and no size suits all of them
// PINS: pins.mlir:1:1: note: for subgroups of 32
// PINS: pins.mlir:7:1: note: for subgroups of 64

//--- good.mlir
func.func private @body() attributes {qd.threads = 64 : i64} {
  return
}

//--- pinned.mlir
func.func private @body() attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  return
}

//--- cluster.mlir
func.func private @body(%v: i32, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %s = qd.simt.reduce_all add %v tile(6) : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}

//--- group.mlir
// One body needs 64 lanes, and in the other, which reads what it wrote, 32 threads take a branch.
func.func private @writes(%v: i32, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %s = qd.simt.reduce_all add %v tile(6) : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}
func.func private @reads(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %half = arith.constant 32 : index
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %first = arith.cmpi ult, %t, %half : index
  scf.if %first {
    %sum = qd.simt.reduce_all add %v : i32
    memref.store %sum, %out[%t] : memref<?xi32>
  }
  return
}
qd.grid.kernel @k(%n: index, %v: i32, %a: memref<?xi32>, %b: memref<?xi32>) {
  qd.grid.launch 0 @writes blocks(%n) args(%v, %a : i32, memref<?xi32>)
  qd.grid.launch 1 @reads blocks(%n) args(%a, %b : memref<?xi32>, memref<?xi32>) after [0]
}

//--- pins.mlir
func.func private @writes(%v: i32, %out: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  %s = qd.simt.inclusive_scan add %v : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}
func.func private @reads(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %s = qd.simt.inclusive_scan add %v : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}
qd.grid.kernel @k(%n: index, %v: i32, %a: memref<?xi32>, %b: memref<?xi32>) {
  qd.grid.launch 0 @writes blocks(%n) args(%v, %a : i32, memref<?xi32>)
  qd.grid.launch 1 @reads blocks(%n) args(%a, %b : memref<?xi32>, memref<?xi32>) after [0]
}

//--- untargeted.json
[
  {"targets": [], "form": "nonsense", "pipe": "alu", "use": 1, "latency": 4, "source": "a test"}
]

//--- masks.json
[
  {"targets": ["nvptx:sm_90"], "form": "int", "masks": [1], "pipe": "alu", "use": 1, "latency": 4, "source": "a test"}
]

//--- masks-of-vote.json
[
  {"targets": ["nvptx:sm_90"], "form": "match.any.sync", "masks": [1], "pipe": "alu", "use": 1, "latency": 4, "source": "a test"}
]

//--- no-masks.json
[
  {"targets": ["nvptx:sm_90"], "form": "shfl.sync", "masks": [], "pipe": "alu", "use": 1, "latency": 4, "source": "a test"}
]

//--- kind.json
[
  {"targets": ["nvptx:sm_90"], "form": "int", "kind": "add", "pipe": "alu", "use": 1, "latency": 4, "source": "a test"}
]

//--- kind-of-shuffle.json
[
  {"targets": ["nvptx:sm_90"], "form": "shfl.sync", "kind": "add", "pipe": "alu", "use": 1, "latency": 4, "source": "a test"}
]

//--- far.json
[
  {"targets": ["nvptx:sm_90"], "form": "shfl.sync", "masks": [1, 32], "pipe": "alu", "use": 1, "latency": 4, "source": "a test"}
]

//--- blank.json
[
  {"targets": ["nvptx:sm_90"], "form": "int", "pipe": "alu", "use": 1, "latency": 4, "source": " "}
]
