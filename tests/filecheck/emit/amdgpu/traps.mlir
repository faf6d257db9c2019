// What has gone wrong for others on AMD's GPUs, each in the code that we make.

// RUN: qd-translate %s --target=amdgpu:gfx1100,wave=64,fixed --emit=asm | FileCheck %s --check-prefixes=CHECK,GFX11
// RUN: qd-translate %s --target=amdgpu:gfx1201,wave=64,fixed --emit=asm | FileCheck %s --check-prefixes=CHECK,GFX12
// RUN: qd-translate %s --target=amdgpu:gfx90a,fixed --emit=asm | FileCheck %s --check-prefixes=CHECK,CDNA,GFX90A
// RUN: qd-translate %s --target=amdgpu:gfx942,fixed --emit=asm | FileCheck %s --check-prefixes=CHECK,CDNA,GFX942
// `llvm.amdgcn.wave.shuffle` is compiled wrongly by GlobalISel, and `ballot.i32` not at all for 64 lanes.
// RUN: qd-translate %s --target=amdgpu:gfx1100,wave=64,fixed --emit=llvm-ir | FileCheck %s --check-prefix=IR
// IR-NOT:      {{wave.shuffle|ballot.i32}}
// IR:          call i64 @llvm.amdgcn.ballot.i64
// IR-NOT:      {{wave.shuffle|ballot.i32}}

// `ds_bpermute_b32` reads the lane's own half of 64 lanes on RDNA3, and `v_permlane64_b32` is not to be had on CDNA. If LLVM saw that the number
// is the same in all lanes, it would make a `v_readlane_b32` of each half's move, which is of the whole wave.
// CHECK-LABEL: {{^}}lanes_phase_0_{{[0-9a-f]+}}:
// GFX11-NOT:     v_readlane
// GFX11:         v_permlane64_b32
// GFX11-COUNT-2: ds_bpermute_b32
// GFX11-NOT:     v_readlane
// GFX11:         v_permlane64_b32
// GFX11-COUNT-2: ds_bpermute_b32
// GFX11-NOT:     v_readlane
// GFX12-NOT:     v_permlane64
// GFX12:         ds_bpermute_b32
// CDNA-NOT:      v_permlane64
// CDNA:          ds_bpermute_b32
// CHECK:         s_endpgm
qd.grid.kernel @lanes(%a: memref<?xi32>, %from: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    %c0 = arith.constant 0 : index
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xi32>
    %lane = memref.load %from[%t] : memref<?xi32>
    %y = qd.simt.shuffle idx %x, %lane : i32
    %same = memref.load %from[%c0] : memref<?xi32>
    %z = qd.simt.shuffle idx %y, %same : i32
    memref.store %z, %a[%t] : memref<?xi32>
  }
}

// LLVM 22 moves `v_permlane64_b32` into the branch that uses it, where the other half is not.
// CHECK-LABEL: {{^}}halves_phase_0_{{[0-9a-f]+}}:
// GFX11:         v_permlane64_b32
// GFX12:         v_permlane64_b32
// GFX11:         s_cbranch_execz
// GFX12:         s_cbranch_execz
// CHECK:         s_endpgm
qd.grid.kernel @halves(%a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    %c0 = arith.constant 0 : index
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xi32>
    %y = qd.simt.reduce_all add %x : i32
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      memref.store %y, %a[%c0] : memref<?xi32>
    }
  }
}

// A ballot whose predicate is not known.
// CHECK-LABEL: {{^}}ballot_phase_0_{{[0-9a-f]+}}:
// CHECK:         v_cmp_{{[a-z_0-9]+}} {{vcc|s\[[0-9:]+\]}},
// CHECK:         s_endpgm
qd.grid.kernel @ballot(%a: memref<?xi32>, %o: memref<?xi64>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    %zero = arith.constant 0 : i32
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xi32>
    %p = arith.cmpi sgt, %x, %zero : i32
    %mask = qd.simt.ballot %p
    memref.store %mask, %o[%t] : memref<?xi64>
  }
}

// What a block waits for is read past the caches of its compute unit.
// CHECK-LABEL: {{^}}waiting_phase_0_{{[0-9a-f]+}}:
// GFX11:         global_load_b32 {{.*}} glc
// GFX12:         global_load_b32 {{.*}} scope:SCOPE_DEV
// GFX90A:        global_load_dword {{.*}} glc
// GFX942:        global_load_dword {{.*}} sc1
// CHECK:         s_endpgm
qd.grid.kernel @waiting(%a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    %zero = arith.constant 0 : i32
    %t = qd.simt.block.thread_id
    %x = scf.while () : () -> i32 {
      %x = qd.grid.atomic.load %a[%t] device relaxed : memref<?xi32>
      %again = arith.cmpi eq, %x, %zero : i32
      scf.condition(%again) %x : i32
    } do {
    ^bb0(%x: i32):
      scf.yield
    }
    memref.store %x, %a[%t] : memref<?xi32>
  }
}

// Tiles are those of tickets, not of blocks, which start in any order.
// CHECK-LABEL: {{^}}inclusive_scan_sweep_{{[0-9a-f]+}}:
// CHECK:         global_atomic_add
// CHECK:         s_endpgm
qd.grid.kernel @scan(%a: memref<?xi32>, %o: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.inclusive_scan add ins(%a : memref<?xi32>) outs(%o : memref<?xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
