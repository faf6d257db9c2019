// Barriers order memory by fences around the instruction, which waits for waves alone; atomics keep order and scope.

// RUN: qd-opt %s --qd-convert-to-rocdl=arch=gfx942 | FileCheck %s

module {

// CHECK-LABEL: llvm.func @barriers(
// CHECK:         llvm.fence syncscope("wavefront") release
// CHECK-NEXT:    llvm.call_intrinsic "llvm.amdgcn.wave.barrier"()
// CHECK-NEXT:    llvm.fence syncscope("wavefront") acquire
// CHECK:         llvm.fence syncscope("workgroup") release
// CHECK-NEXT:    rocdl.s.barrier
// CHECK-NEXT:    llvm.fence syncscope("workgroup") acquire
// CHECK:         llvm.fence syncscope("workgroup") seq_cst
// CHECK:         llvm.fence syncscope("agent") seq_cst
func.func private @barriers() attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  qd.simt.sync
  qd.simt.block.sync
  qd.simt.block.mem_fence
  qd.grid.mem_fence
  return
}

// CHECK-LABEL: llvm.func @atomics(
// CHECK-NOT:     llvm.fence
// CHECK:         llvm.atomicrmw add %{{.*}} syncscope("agent") acq_rel
// CHECK:         llvm.atomicrmw umax %{{.*}} syncscope("workgroup") monotonic
// CHECK:         llvm.load %{{.*}} atomic syncscope("agent") acquire
// CHECK:         llvm.store %{{.*}} atomic syncscope("agent") release
// CHECK:         llvm.cmpxchg %{{.*}} syncscope("agent") acq_rel acquire
func.func private @atomics(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %t = qd.simt.block.thread_id
  %0 = qd.grid.atomic.rmw add %v, %a[%t] device acq_rel : memref<?xi32>
  %1 = qd.grid.atomic.rmw maxui %v, %a[%t] block relaxed : memref<?xi32>
  %2 = qd.grid.atomic.load %a[%t] device acquire : memref<?xi32>
  qd.grid.atomic.store %2, %a[%t] device release : memref<?xi32>
  %3 = qd.grid.atomic.cas %0, %1, %a[%t] device acq_rel : memref<?xi32>
  return
}

// About so many times 64 clocks, and no more than the instruction takes.
// CHECK-LABEL: llvm.func @pauses(
// CHECK:         rocdl.s.sleep 1
// CHECK:         rocdl.s.sleep 31
// CHECK:         rocdl.s.sleep 127
func.func private @pauses() attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  qd.simt.pause 1
  qd.simt.pause 1000
  qd.simt.pause 1000000
  return
}
}
