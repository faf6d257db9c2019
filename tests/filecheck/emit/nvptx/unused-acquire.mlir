// An acquiring load whose result nothing uses is a relaxed one and a fence: ptxas removes it, and may lose what later accesses need
// with it. One whose result is used stays.
// RUN: qd-translate %s --target=nvptx:sm_90 --emit=asm | FileCheck %s

// CHECK-LABEL: .visible .entry unused
// CHECK:         ld.relaxed.gpu.global.b32 %[[X:.*]], [%{{.*}}];
// CHECK-NEXT:    fence.acq_rel.gpu;
// CHECK-NOT:     ld.acquire
// CHECK-LABEL: .visible .entry used
// CHECK:         ld.acquire.gpu.global.b32 %[[X:.*]], [%{{.*}}];
// CHECK:         st.global.b32 [%{{.*}}], %[[X]];
qd.grid.kernel @unused(%a: memref<?xi32>, %n: index) {
  %one = arith.constant 1 : index
  qd.grid.phase blocks(%one) threads(64) {
    %t = qd.simt.block.thread_id
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %x = qd.grid.atomic.load %a[%t] device acquire : memref<?xi32>
    }
  }
}
qd.grid.kernel @used(%a: memref<?xi32>, %b: memref<?xi32>) {
  %one = arith.constant 1 : index
  qd.grid.phase blocks(%one) threads(64) {
    %t = qd.simt.block.thread_id
    %x = qd.grid.atomic.load %a[%t] device acquire : memref<?xi32>
    memref.store %x, %b[%t] : memref<?xi32>
  }
}
