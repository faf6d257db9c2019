// What was chosen stands in the IR; a form that the program asks for is taken, and one that there is
// not is an error at the op.

// RUN: split-file %s %t
// RUN: qd-opt %t/body.mlir --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s
// RUN: qd-opt %t/body.mlir --qd-select-lowering=target=nvptx:sm_90 | qd-opt --qd-select-lowering=target=nvptx:sm_90 | FileCheck %s --check-prefix=AGAIN
// RUN: qd-opt %t/body.mlir --qd-select-lowering=target=amdgpu:gfx1100 | FileCheck %s --check-prefix=TWO
// RUN: qd-opt %t/body.mlir --to=subgroup --target=nvptx:sm_90,select | FileCheck %s --check-prefix=PIPELINE
// RUN: not qd-opt %t/form.mlir --qd-select-lowering=target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not qd-opt %t/once.mlir --qd-select-lowering=target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=ONCE
// RUN: not qd-opt %t/name.mlir --qd-select-lowering=target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not qd-opt %t/width.mlir --qd-select-lowering=target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=WIDTH
// Without the search, what is asked for is done or an error, too.
// RUN: qd-opt %t/chosen.mlir --qd-expand-collectives=target=nvptx:sm_90 | FileCheck %s --check-prefix=ASKED
// RUN: not qd-opt %t/other.mlir --qd-expand-collectives=target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=OTHER

// CHECK-LABEL: func.func private @body
// CHECK-SAME:    qd.select = {before = {{[0-9.e+]+}} : f64, cost = {{[0-9.e+]+}} : f64, optimal = true, rules = ["first-of-reduce"]}
// CHECK:         qd.simt.reduce_all add %{{.*}} tile(5) {qd.form = "redux.sync"} : i32
// CHECK-NOT:     qd.simt.reduce_all
// CHECK-COUNT-5: qd.simt.shuffle xor
// CHECK-NOT:     qd.simt.reduce_all
// CHECK:         qd.simt.reduce_all xor %{{.*}}qd.why = ["first-of-reduce"]{{.*}} : i32

// What was chosen once is what is asked for.
// AGAIN:         qd.simt.reduce_all add %{{.*}} tile(5) {qd.form = "redux.sync"} : i32
// AGAIN-COUNT-5: qd.simt.shuffle xor
// AGAIN:         qd.simt.reduce_all xor

// TWO:           qd.select = {{{.*}}runner_up = {{32|64}} : i64, runner_up_cost = {{[0-9.e+]+}} : f64, waves = array<i64: 32, 64>}

// PIPELINE:      qd.simt.reduce_all
// PIPELINE-COUNT-5: qd.simt.shuffle xor

// ASKED:         qd.simt.reduce_all add %{{.*}} tile(5) {qd.form = "redux.sync"} : i32
// ASKED-COUNT-5: qd.simt.shuffle xor
// ASKED-NOT:     qd.simt.reduce_all
// OTHER: other.mlir:3:8: error: 'qd.simt.reduce_all' op cannot be done by 'row_shr' in subgroups of 32: there is 'redux.sync', 'expansion'

// FORM:  form.mlir:4:8: error: 'qd.simt.reduce_all' op cannot be done by 'redux.async' in subgroups of 32: there is 'redux.sync', 'expansion'
// ONCE:  once.mlir:3:8: error: 'arith.addi' op cannot be done by 'expansion' in subgroups of 32: it is done in one way alone
// NAME:  name.mlir:4:8: error: 'qd.simt.reduce_all' op 'qd.form' is not the name of a form
// WIDTH: width.mlir:4:8: error: 'qd.simt.reduce_all' op cannot be done by 'redux.sync' in subgroups of 32: there is 'expansion'

//--- body.mlir
func.func private @body(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %sum = qd.simt.reduce_all add %v : i32
  %most = qd.simt.reduce_all maxsi %v {qd.form = "expansion"} : i32
  %p = arith.cmpi sgt, %v, %zero : i32
  %total = qd.simt.reduce xor %v : i32
  %count = qd.simt.broadcast_first %total : i32
  %a = arith.addi %sum, %most : i32
  %b = arith.addi %a, %count : i32
  memref.store %b, %out[%t] : memref<?xi32>
  return
}

//--- chosen.mlir
func.func private @body(%v: i32, %out: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  %s = qd.simt.reduce_all add %v tile(5) {qd.form = "redux.sync"} : i32
  %m = qd.simt.reduce_all maxsi %s tile(5) {qd.form = "expansion"} : i32
  memref.store %m, %out[%t] : memref<?xi32>
  return
}

//--- other.mlir
func.func private @body(%v: i32, %out: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  %s = qd.simt.reduce_all add %v tile(5) {qd.form = "row_shr"} : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}

//--- form.mlir
func.func private @body(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %s = qd.simt.reduce_all add %v {qd.form = "redux.async"} : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}

//--- once.mlir
func.func private @body(%v: i32, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %s = arith.addi %v, %v {qd.form = "expansion"} : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}

//--- name.mlir
func.func private @body(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %s = qd.simt.reduce_all add %v {qd.form = 7 : i32} : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}

//--- width.mlir
// A sum of 64 bits is no redux.
func.func private @body(%v: i64, %out: memref<?xi64>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %s = qd.simt.reduce_all add %v {qd.form = "redux.sync"} : i64
  memref.store %s, %out[%t] : memref<?xi64>
  return
}
