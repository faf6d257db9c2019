// What LLVM is told of arguments that overlap is read off the launches: parts of one buffer, and buffers that say that they alias, but
// only where one of both is written.

// RUN: qd-opt %s --qd-mark-noalias --qd-convert-to-nvvm=arch=sm_90 | FileCheck %s

module {

// CHECK-LABEL: llvm.func @copy(
// CHECK-SAME:    !llvm.ptr<1> {llvm.noundef}, {{[^,]*}}: i64 {llvm.noundef}, {{[^,]*}}: !llvm.ptr<1> {llvm.noundef},
func.func private @copy(%a: memref<?xi32>, %b: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %a[%t] : memref<?xi32>
  memref.store %v, %b[%t] : memref<?xi32>
  return
}

// Two that are only read, and one apart.
// CHECK-LABEL: llvm.func @add(
// CHECK-SAME:    !llvm.ptr<1> {llvm.noalias, llvm.noundef}, {{[^,]*}}: i64 {llvm.noundef}, {{[^,]*}}: !llvm.ptr<1> {llvm.noalias, llvm.noundef},
// CHECK-SAME:    {{[^,]*}}: i64 {llvm.noundef}, {{[^,]*}}: !llvm.ptr<1> {llvm.noalias, llvm.noundef}
func.func private @add(%a: memref<?xi32>, %b: memref<?xi32>, %c: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %a[%t] : memref<?xi32>
  %y = memref.load %b[%t] : memref<?xi32>
  %z = arith.addi %x, %y : i32
  memref.store %z, %c[%t] : memref<?xi32>
  return
}

// CHECK-LABEL: llvm.func @may_alias(
// CHECK-SAME:    !llvm.ptr<1> {llvm.noundef}, {{[^,]*}}: i64 {llvm.noundef}, {{[^,]*}}: !llvm.ptr<1> {llvm.noundef},
func.func private @may_alias(%a: memref<?xi32>, %b: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  %v = memref.load %a[%t] : memref<?xi32>
  memref.store %v, %b[%t] : memref<?xi32>
  return
}

// What is polled may be written by others: LLVM must not think that it is constant.
// CHECK-LABEL: llvm.func @poll(
// CHECK-SAME:    !llvm.ptr<1> {llvm.noundef}, {{[^,]*}}: i64 {llvm.noundef}, {{[^,]*}}: !llvm.ptr<1> {llvm.noalias, llvm.noundef},
func.func private @poll(%a: memref<?xi32>, %b: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  %v = qd.grid.atomic.load %a[%t] device acquire : memref<?xi32>
  %w = memref.load %b[%t] : memref<?xi32>
  return
}

// Where threads wait for each other, what is written is somebody else's too.
// CHECK-LABEL: llvm.func @through_memory(
// CHECK-SAME:    !llvm.ptr<1> {llvm.noundef}, {{[^,]*}}: i64 {llvm.noundef}, {{[^,]*}}: !llvm.ptr<1> {llvm.noalias, llvm.noundef},
func.func private @through_memory(%a: memref<?xi32>, %b: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c63 = arith.constant 63 : index
  %t = qd.simt.block.thread_id
  %j = arith.subi %c63, %t : index
  %v = memref.load %b[%t] : memref<?xi32>
  memref.store %v, %a[%t] : memref<?xi32>
  qd.simt.block.sync
  %w = memref.load %a[%j] : memref<?xi32>
  qd.simt.block.sync
  memref.store %w, %a[%t] : memref<?xi32>
  return
}

qd.grid.kernel @k(%a: memref<?xi32>, %x: memref<?xi32> {qd.may_alias}, %y: memref<?xi32> {qd.may_alias}, %g: index) {
  %c0 = arith.constant 0 : index
  %v = qd.grid.view %a[%c0] [%g] : memref<?xi32> to memref<?xi32>
  qd.grid.launch 0 @copy blocks(%g) args(%a, %v : memref<?xi32>, memref<?xi32>)
  qd.grid.launch 1 @add blocks(%g) args(%a, %a, %x : memref<?xi32>, memref<?xi32>, memref<?xi32>) after [0]
  qd.grid.launch 2 @may_alias blocks(%g) args(%x, %y : memref<?xi32>, memref<?xi32>) after [1]
  qd.grid.launch 3 @poll blocks(%g) args(%a, %x : memref<?xi32>, memref<?xi32>) after [2]
  qd.grid.launch 4 @through_memory blocks(%g) args(%x, %a : memref<?xi32>, memref<?xi32>) after [3]
}
}
