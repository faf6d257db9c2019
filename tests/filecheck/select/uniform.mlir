// Arithmetic on what is the same in a subgroup costs what scalar instructions do, and on what is each lane's own what
// those of lanes do: a table in which scalar instructions are dear says which is which.

// RUN: qd-opt %s --qd-select-lowering='target=amdgpu:gfx1100,wave=32 costs=%S/Inputs/dear-scalars.json explain=true' -o /dev/null 2>&1 | FileCheck %s

// The columns: size, time, lanes' arithmetic, subgroups' arithmetic.
// CHECK:      @same threads 64
// CHECK-NEXT:   wave      time      alu   scalar
// CHECK-NEXT:   *32 {{ *[0-9.]+ +[0-9.]+ +}}{{(1[5-9][0-9]|[2-9][0-9][0-9])[.0-9]*}} {{.*}}
// CHECK:      @own threads 64
// CHECK-NEXT:   wave      time      alu   scalar
// CHECK-NEXT:   *32 {{ *[0-9.]+ +[0-9.]+ +[0-9]\.[0-9]+}} {{.*}}
func.func private @same(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %zero = arith.constant 0 : index
  %seven = arith.constant 7 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%zero] : memref<?xi32>
  %w = arith.muli %v, %seven : i32
  %s = qd.simt.broadcast_first %w : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}
func.func private @own(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %seven = arith.constant 7 : i32
  %t = qd.simt.block.thread_id
  %v = memref.load %in[%t] : memref<?xi32>
  %w = arith.muli %v, %seven : i32
  %s = qd.simt.broadcast_first %w : i32
  memref.store %s, %out[%t] : memref<?xi32>
  return
}
