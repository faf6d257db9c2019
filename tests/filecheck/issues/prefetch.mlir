// Elements of every type can be prefetched, `index` too; a target without the instruction drops the hint.
// RUN: qd-translate %s --target=nvptx:sm_90 --emit=asm | FileCheck %s
// RUN: qd-translate %s --target=cpu -o %t
// RUN: qd-translate %s --target=vulkan:1.3,subgroup=8 -o %t
// RUN: qd-run %s --arg arg0=iota[64] --arg arg1=iota[64] --arg arg2=iota[64] --arg arg3=1 --print arg2 -q | FileCheck %s --check-prefix=VALUE

// VALUE: arg2 = [0, 2, 4, 6,
// CHECK-LABEL: .entry k_phase_0_{{[0-9a-f]+}}(
// CHECK:         mul.wide.u32 %[[BYTES:rd[0-9]+]], %r{{[0-9]+}}, 8;
// CHECK:         add.s64 %[[AT:rd[0-9]+]], %rd{{[0-9]+}}, %[[BYTES]];
// CHECK:         cvta.global.u64 %[[GLOBAL:rd[0-9]+]], %[[AT]];
// CHECK:         prefetch.L2 [%[[GLOBAL]]];
// CHECK:         prefetch.L2
// CHECK-NOT:     prefetch.L2
qd.grid.kernel @k(%p: memref<?xindex>, %q: memref<?xi8>, %o: memref<?xindex>, %g: index) {
  qd.grid.phase blocks(%g) threads(64) {
    %t = qd.simt.block.thread_id
    memref.prefetch %p[%t], read, locality<2>, data : memref<?xindex>
    memref.prefetch %q[%t], read, locality<2>, data : memref<?xi8>
    %x = memref.load %p[%t] : memref<?xindex>
    %y = arith.addi %x, %t : index
    memref.store %y, %o[%t] : memref<?xindex>
  }
}
