// Barriers, fences and atomics. LLVM's back end drops the order of a read-modify-write, so fences stand around one; it keeps that of
// loads, stores and compare-and-swap.

// RUN: qd-opt %s --qd-convert-to-nvvm=arch=sm_90 | FileCheck %s

module {

// CHECK-LABEL: llvm.func @barriers(
// CHECK:         nvvm.bar.warp.sync %c-1_i32
// CHECK:         nvvm.barrier0
// CHECK:         llvm.fence syncscope("block") seq_cst
// CHECK:         llvm.fence syncscope("block") seq_cst
// CHECK:         llvm.fence syncscope("device") seq_cst
func.func private @barriers() attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  qd.simt.sync
  qd.simt.block.sync
  qd.simt.mem_fence
  qd.simt.block.mem_fence
  qd.grid.mem_fence
  return
}

// CHECK-LABEL: llvm.func @read_modify_write(
// CHECK-NOT:     llvm.fence
// CHECK:         llvm.atomicrmw add %{{.*}} syncscope("device") monotonic : !llvm.ptr, i32
// CHECK-NOT:     llvm.fence
// CHECK:         llvm.atomicrmw umax %{{.*}} syncscope("device") monotonic
// CHECK-NEXT:    llvm.fence syncscope("device") acquire
// CHECK:         llvm.fence syncscope("block") release
// CHECK-NEXT:    llvm.atomicrmw _xor %{{.*}} syncscope("block") monotonic
// CHECK-NOT:     llvm.fence
// CHECK:         llvm.fence syncscope("block") acq_rel
// CHECK-NEXT:    llvm.atomicrmw min %{{.*}} syncscope("block") monotonic
// CHECK-NEXT:    llvm.fence syncscope("block") acq_rel
func.func private @read_modify_write(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  %0 = qd.grid.atomic.rmw add %v, %a[%t] device relaxed : memref<?xi32>
  %1 = qd.grid.atomic.rmw maxui %v, %a[%t] device acquire : memref<?xi32>
  %2 = qd.grid.atomic.rmw xor %v, %a[%t] block release : memref<?xi32>
  %3 = qd.grid.atomic.rmw minsi %v, %a[%t] subgroup acq_rel : memref<?xi32>
  return
}

// There is no product: it is swapped in until it holds, and that has an order.
// CHECK-LABEL: llvm.func @product(
// CHECK:         llvm.load %{{.*}} atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK:         scf.while
// CHECK:           arith.mulf
// CHECK:           llvm.cmpxchg %{{.*}} syncscope("device") acq_rel acquire : !llvm.ptr, i32
func.func private @product(%a: memref<?xf32>, %v: f32) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  %0 = qd.grid.atomic.rmw mul %v, %a[%t] device acq_rel : memref<?xf32>
  return
}

// CHECK-LABEL: llvm.func @loads_and_stores(
// CHECK:         llvm.load %{{.*}} atomic syncscope("device") acquire {alignment = 8 : i64}
// CHECK:         llvm.store %{{.*}} atomic syncscope("block") release {alignment = 8 : i64}
// CHECK:         llvm.cmpxchg %{{.*}} syncscope("device") release monotonic
func.func private @loads_and_stores(%a: memref<?xi64>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %t = qd.simt.block.thread_id
  %0 = qd.grid.atomic.load %a[%t] device acquire : memref<?xi64>
  qd.grid.atomic.store %0, %a[%t] block release : memref<?xi64>
  %1 = qd.grid.atomic.cas %0, %0, %a[%t] device release : memref<?xi64>
  return
}

// Offset and strides of a part count.
// CHECK-LABEL: llvm.func @part(
// CHECK:         %[[D:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<4xi32, strided<[2], offset: ?>>
// CHECK:         %[[OFFSET:.*]] = llvm.extractvalue %[[D]][2]
// CHECK:         %[[STRIDE:.*]] = llvm.extractvalue %[[D]][4, 0]
// CHECK:         %[[SCALED:.*]] = arith.muli %{{.*}}, %[[STRIDE]] : i64
// CHECK:         %[[AT:.*]] = arith.addi %[[OFFSET]], %[[SCALED]] : i64
// CHECK:         llvm.getelementptr %{{.*}}[%[[AT]]]
func.func private @part(%a: memref<?xi32>, %i: index) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c1 = arith.constant 1 : index
  %s = memref.subview %a[%i] [4] [2] : memref<?xi32> to memref<4xi32, strided<[2], offset: ?>>
  %0 = qd.grid.atomic.load %s[%c1] device relaxed : memref<4xi32, strided<[2], offset: ?>>
  return
}
}
