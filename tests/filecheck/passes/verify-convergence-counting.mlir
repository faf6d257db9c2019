// What breaks no rule in the widest subgroups is not looked at in narrower ones, but where a body counts by the size: of
// 128 threads, subgroups of 64 lanes have no number above 1, and those of fewer lanes do.

// RUN: not qd-opt %s --qd-verify-convergence 2>&1 | FileCheck %s

// CHECK: error: 'qd.simt.reduce_all' op stands under control flow that is not uniform in its subgroup, at wave 4, 8, 16 and 32

qd.grid.kernel @counting(%out: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(128) {
    %one = arith.constant 1 : index
    %t = qd.simt.block.thread_id
    %s = qd.simt.subgroup_id
    %v = arith.index_cast %t : index to i32
    %c1_i32 = arith.constant 1 : i32
    %late = arith.cmpi ugt, %s, %c1_i32 : i32
    %b = arith.andi %t, %one : index
    %odd = arith.cmpi eq, %b, %one : index
    %both = arith.andi %late, %odd : i1
    scf.if %both {
      %r = qd.simt.reduce_all add %v : i32
      memref.store %r, %out[%t] : memref<?xi32>
    }
  }
}
