// What was chosen of what, and why; and costs of a file, by which an expansion is cheaper.

// RUN: qd-opt %s --qd-select-lowering='target=amdgpu:gfx1100 explain' -o /dev/null 2>&1 | FileCheck %s --check-prefix=AMD
// RUN: qd-opt %s --qd-select-lowering='target=nvptx:sm_90 explain=true' 2>&1 | FileCheck %s --check-prefix=NVIDIA
// RUN: qd-opt %s --qd-select-lowering='target=nvptx:sm_90 costs=%S/Inputs/dear-redux.json explain=true' 2>&1 | FileCheck %s --check-prefix=DEAR
// What a figure is does not matter, however large.
// RUN: qd-opt %s --qd-select-lowering='target=nvptx:sm_90 costs=%S/Inputs/huge.json explain=true' 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: qd-opt %s --to=subgroup --target=amdgpu:gfx1100,select | FileCheck %s --check-prefix=PIPELINE

// AMD:      @body threads 256, group 0: wave 64 (32: +{{[0-9.]+}} %)
// AMD-NEXT:   wave      time      alu   scalar   shared   memory  latency
// AMD-NEXT:    32
// AMD-NEXT:   *64
// AMD:        qd.simt.reduce_all ({{.*}}) -> expansion
// AMD:        qd.simt.count_true ({{.*}}explain.mlir{{.*}}) -> (popcnt (ballot v{{[0-9]+}})) by count-is-popcnt

// NVIDIA:   @body threads 256, group 0: wave 32{{$}}
// NVIDIA:     qd.simt.reduce_all ({{.*}}) -> redux.sync 8.0, latency {{[0-9.]+}}; expansion
// NVIDIA:     cost of redux.sync: CUDA
// NVIDIA:     qd.simt.reduce_all add %{{.*}} tile(5)

// DEAR:       qd.simt.reduce_all ({{.*}}) -> expansion {{.*}}; redux.sync 800.0, latency 4000.0
// DEAR:     func.func private @body
// DEAR-NOT:   qd.simt.reduce_all
// DEAR-COUNT-5: qd.simt.shuffle xor

// HUGE:       qd.simt.reduce_all ({{.*}}) -> expansion
// HUGE:     func.func private @body

// PIPELINE: func.func private @body{{.*}} qd.wave = 64
func.func private @body(%in: memref<?xi32>, %out: memref<?xi32>, %masks: memref<?xi64>) attributes {qd.threads = 256 : i64} {
  %zero = arith.constant 0 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %mask = qd.simt.ballot %p
  memref.store %mask, %masks[%t] : memref<?xi64>
  %count = qd.simt.count_true %p
  %sum = qd.simt.reduce_all add %v : i32
  %both = arith.addi %count, %sum : i32
  memref.store %both, %out[%t] : memref<?xi32>
  return
}
