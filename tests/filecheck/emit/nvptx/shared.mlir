// Up to 48 KiB a block's arrays are declared; beyond that they are parts of one external array, and the plan has its bytes.

// RUN: qd-translate %s --target=nvptx:sm_90 --emit=asm | FileCheck %s
// RUN: qd-translate %s --target=nvptx:sm_80 --emit=asm | FileCheck %s
// RUN: qd-translate %s --target=nvptx:sm_90 --emit=plan | FileCheck %s --check-prefix=PLAN

// CHECK-NOT:   .extern
// CHECK-LABEL: .visible .entry declared_phase_0_{{[0-9a-f]+}}(
// CHECK:         .shared .align 16 .b8 __qd_shared_declared_phase_0_{{[0-9a-f]+}}_0[49152];
// CHECK:         ret;
// PLAN:        "body": "declared_phase_0_{{[0-9a-f]+}}"
// PLAN:        "dynamic_shared_bytes": 0
qd.grid.kernel @declared(%b: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    %s = qd.simt.block.shared : memref<12288xi32, #gpu.address_space<workgroup>>
    %c63 = arith.constant 63 : index
    %t = qd.simt.block.thread_id
    %j = arith.subi %c63, %t : index
    %x = memref.load %b[%t] : memref<?xi32>
    memref.store %x, %s[%t] : memref<12288xi32, #gpu.address_space<workgroup>>
    qd.simt.block.sync
    %y = memref.load %s[%j] : memref<12288xi32, #gpu.address_space<workgroup>>
    memref.store %y, %b[%t] : memref<?xi32>
  }
}

// 20 bytes, and from byte 32 on the rest of 60 KiB.
// CHECK:       .extern .shared .align 16 .b8 __qd_shared_asked_for_phase_0_{{[0-9a-f]+}}[];
// CHECK-LABEL: .visible .entry asked_for_phase_0_{{[0-9a-f]+}}(
// CHECK-NOT:     .shared .align
// CHECK:         mov.b64 %[[ARRAY:rd[0-9]+]], __qd_shared_asked_for_phase_0_{{[0-9a-f]+}};
// CHECK:         add.s64 %[[OWN:rd[0-9]+]], %[[ARRAY]],
// CHECK:         st.shared.b32 [%[[OWN]]+32],
// CHECK:         st.shared.b32 [__qd_shared_asked_for_phase_0_{{[0-9a-f]+}}+16],
// CHECK:         bar.sync 0;
// CHECK:         ld.shared.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}+32];
// CHECK:         ld.shared.b32 %r{{[0-9]+}}, [__qd_shared_asked_for_phase_0_{{[0-9a-f]+}}+16];
// CHECK:         ret;
// PLAN:        "body": "asked_for_phase_0_{{[0-9a-f]+}}"
// PLAN:        "dynamic_shared_bytes": 61440
qd.grid.kernel @asked_for(%b: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    %u = qd.simt.block.shared : memref<5xi32, #gpu.address_space<workgroup>>
    %s = qd.simt.block.shared : memref<15352xi32, #gpu.address_space<workgroup>>
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %t = qd.simt.block.thread_id
    %j = arith.subi %c63, %t : index
    %x = memref.load %b[%t] : memref<?xi32>
    memref.store %x, %s[%t] : memref<15352xi32, #gpu.address_space<workgroup>>
    memref.store %x, %u[%c4] : memref<5xi32, #gpu.address_space<workgroup>>
    qd.simt.block.sync
    %y = memref.load %s[%j] : memref<15352xi32, #gpu.address_space<workgroup>>
    %z = memref.load %u[%c4] : memref<5xi32, #gpu.address_space<workgroup>>
    %r = arith.addi %y, %z : i32
    memref.store %r, %b[%t] : memref<?xi32>
  }
}
