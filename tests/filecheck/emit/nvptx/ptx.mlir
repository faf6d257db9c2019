// Each family of ops down to its instructions.

// RUN: qd-translate %s --target=nvptx:sm_90 --emit=asm | FileCheck %s
// RUN: qd-translate %s --target=nvptx:sm_80 --emit=asm | FileCheck %s

// A grid has one dimension, whose limit is 2^31 - 1: nothing folds block ids.
// CHECK-LABEL: .visible .entry moves_phase_0_{{[0-9a-f]+}}(
// CHECK-DAG:     mov.u32 %{{.*}}, %ctaid.x
// CHECK-DAG:     mov.u32 %{{.*}}, %tid.x
// CHECK:         ld.global.b64
// CHECK:         shfl.sync.bfly.b32 %{{.*}}, 5, 31, -1
// CHECK:         shfl.sync.bfly.b32 %{{.*}}, 5, 31, -1
// CHECK:         shfl.sync.up.b32 %{{.*}}, 3, 0, -1
// CHECK:         shfl.sync.idx.b32
// CHECK:         ret;
qd.grid.kernel @moves(%a: memref<?xf64>, %b: memref<?xi32>) {
  %blocks = arith.constant 100000 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %c3 = arith.constant 3 : i32
    %c5 = arith.constant 5 : i32
    %block = qd.simt.block.id
    %dim = qd.simt.block.dim
    %thread = qd.simt.block.thread_id
    %first = arith.muli %block, %dim : index
    %i = arith.addi %first, %thread : index
    %x = memref.load %a[%i] : memref<?xf64>
    %y = qd.simt.shuffle xor %x, %c5 : f64
    memref.store %y, %a[%i] : memref<?xf64>
    %z = memref.load %b[%i] : memref<?xi32>
    %u = qd.simt.shuffle up %z, %c3 : i32
    %v = qd.simt.broadcast_first %u : i32
    memref.store %v, %b[%i] : memref<?xi32>
  }
}

// All votes are ballots: ptxas moves others into branches.
// CHECK-LABEL: .visible .entry votes_phase_0_{{[0-9a-f]+}}(
// CHECK-NOT:     vote.sync.{{all|any}}
// CHECK:         vote.sync.ballot.b32
// CHECK-NOT:     vote.sync.{{all|any}}
// CHECK:         match.any.sync.b32
// CHECK:         ret;
qd.grid.kernel @votes(%b: memref<?xi32>, %o: memref<?xi64>) {
  %blocks = arith.constant 2 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %c0 = arith.constant 0 : i32
    %i = qd.simt.block.thread_id
    %z = memref.load %b[%i] : memref<?xi32>
    %p = arith.cmpi sgt, %z, %c0 : i32
    %all = qd.simt.all %p
    %any = qd.simt.any %p
    %mask = qd.simt.ballot %p
    %peers = qd.simt.match_any %z : i32
    %0 = arith.extui %all : i1 to i64
    %1 = arith.extui %any : i1 to i64
    %2 = arith.shli %0, %1 : i64
    %3 = arith.xori %2, %mask : i64
    %4 = arith.subi %3, %peers : i64
    memref.store %4, %o[%i] : memref<?xi64>
  }
}

// An i32 has an instruction, but for products; tiles and other types are shuffled.
// CHECK-LABEL: .visible .entry reductions_phase_0_{{[0-9a-f]+}}(
// CHECK:         redux.sync.add.s32
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-COUNT-2: shfl.sync.bfly.b32
// CHECK-NOT:     shfl
// CHECK:         ret;
qd.grid.kernel @reductions(%b: memref<?xi32>) {
  %blocks = arith.constant 2 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %b[%i] : memref<?xi32>
    %0 = qd.simt.reduce_all add %x : i32
    %1 = arith.addi %0, %x : i32
    %2 = qd.simt.reduce_all mul %1 : i32
    %3 = arith.addi %2, %x : i32
    %4 = qd.simt.reduce_all xor %3 tile(2) : i32
    memref.store %4, %b[%i] : memref<?xi32>
  }
}

// CHECK-LABEL: .visible .entry bits_phase_0_{{[0-9a-f]+}}(
// CHECK-DAG:     ld.global.nc.b64
// CHECK-DAG:     popc.b64
// CHECK-DAG:     clz.b32
// CHECK-DAG:     popc.b32
// CHECK:         ret;
qd.grid.kernel @bits(%b: memref<?xi32>, %w: memref<?xi64>) {
  %blocks = arith.constant 2 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %b[%i] : memref<?xi32>
    %y = memref.load %w[%i] : memref<?xi64>
    %0 = qd.math.popcnt %y : i64
    %1 = qd.math.clz %x : i32
    %2 = qd.math.ffs %x : i32
    %3 = arith.addi %0, %1 : i32
    %4 = arith.xori %3, %2 : i32
    memref.store %4, %b[%i] : memref<?xi32>
  }
}

// Shared memory is addressed as such, and the barrier stands between its uses.
// CHECK-LABEL: .visible .entry shared_phase_0_{{[0-9a-f]+}}(
// CHECK:         .shared .align 16 .b8 __qd_shared_shared_phase_0_{{[0-9a-f]+}}_0[256];
// CHECK:         st.shared.b32
// CHECK:         bar.sync 0;
// CHECK:         ld.shared.b32
// CHECK:         bar.warp.sync -1;
// CHECK:         atom.shared.add.u32
// CHECK:         ret;
qd.grid.kernel @shared(%b: memref<?xi32>) {
  %blocks = arith.constant 2 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %s = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
    %c63 = arith.constant 63 : index
    %i = qd.simt.block.thread_id
    %j = arith.subi %c63, %i : index
    %x = memref.load %b[%i] : memref<?xi32>
    memref.store %x, %s[%i] : memref<64xi32, #gpu.address_space<workgroup>>
    qd.simt.block.sync
    %y = memref.load %s[%j] : memref<64xi32, #gpu.address_space<workgroup>>
    qd.simt.sync
    %z = qd.grid.atomic.rmw add %y, %s[%j] block relaxed : memref<64xi32, #gpu.address_space<workgroup>>
    memref.store %z, %b[%i] : memref<?xi32>
  }
}

// The order of a read-modify-write is that of the fences around it.
// CHECK-LABEL: .visible .entry atomics_phase_0_{{[0-9a-f]+}}(
// CHECK:         fence.acq_rel.gpu;
// CHECK-NEXT:    atom.global.add.u32
// CHECK-NEXT:    fence.acq_rel.gpu;
// CHECK:         fence.acq_rel.cta;
// CHECK-NEXT:    atom.global.max.s32
// CHECK-NOT:     fence
// CHECK:         atom.global.add.f32
// CHECK:         fence.{{acquire|acq_rel}}{{.*}}.gpu;
// CHECK:         ld.acquire.gpu.global.b32
// CHECK:         st.release.gpu.global.b32
// CHECK:         atom{{.*}}.cas.b32
// CHECK:         fence.sc.gpu;
// CHECK:         fence.sc.cta;
// CHECK:         ret;
qd.grid.kernel @atomics(%a: memref<?xi32>, %f: memref<?xf32>) {
  %blocks = arith.constant 2 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %i = qd.simt.block.thread_id
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1.0 : f32
    %0 = qd.grid.atomic.rmw add %c1, %a[%i] device acq_rel : memref<?xi32>
    %1 = qd.grid.atomic.rmw maxsi %0, %a[%i] block release : memref<?xi32>
    %2 = qd.grid.atomic.rmw add %one, %f[%i] device acquire : memref<?xf32>
    memref.store %2, %f[%i] : memref<?xf32>
    %3 = qd.grid.atomic.load %a[%i] device acquire : memref<?xi32>
    qd.grid.atomic.store %1, %a[%i] device release : memref<?xi32>
    %4 = qd.grid.atomic.cas %c1, %3, %a[%i] device acq_rel : memref<?xi32>
    qd.grid.mem_fence
    qd.simt.block.mem_fence
    memref.store %4, %a[%i] : memref<?xi32>
  }
}

// CHECK-LABEL: .visible .entry functions_phase_0_{{[0-9a-f]+}}(
// CHECK-DAG:     sqrt.rn.f32
// CHECK-DAG:     fma.rn.f32
// CHECK-DAG:     cvt.rmi.f32.f32
// CHECK-DAG:     min.f32
// CHECK-DAG:     ex2.approx.f32
// CHECK-DAG:     cvt.rni.f64.f64
// CHECK-DAG:     fma.rn.f64
// CHECK-NOT:     call
// CHECK:         ret;
qd.grid.kernel @functions(%f: memref<?xf32>) {
  %blocks = arith.constant 2 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %f[%i] : memref<?xf32>
    %0 = math.sqrt %x : f32
    %1 = math.fma %0, %x, %x : f32
    %2 = math.floor %1 : f32
    %3 = arith.minnumf %2, %x : f32
    %4 = math.exp2 %3 : f32
    %5 = math.exp %4 : f32
    memref.store %5, %f[%i] : memref<?xf32>
  }
}

// What another thread has written is loaded again behind a barrier, also where no store of this thread's is in between.
// CHECK-LABEL: .visible .entry through_memory_phase_0_{{[0-9a-f]+}}(
// CHECK:         st.global.b32
// CHECK:         bar.sync 0;
// CHECK:         ld.global.b32
// CHECK:         bar.sync 0;
// CHECK:         st.global.b32
// CHECK:         bar.sync 0;
// CHECK:         ld.global.b32
// CHECK:         ret;
qd.grid.kernel @through_memory(%a: memref<?xi32>, %o: memref<?xi32>) {
  %blocks = arith.constant 1 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %c63 = arith.constant 63 : index
    %t = qd.simt.block.thread_id
    %j = arith.subi %c63, %t : index
    %x = memref.load %o[%t] : memref<?xi32>
    memref.store %x, %a[%t] : memref<?xi32>
    qd.simt.block.sync
    %y = memref.load %a[%j] : memref<?xi32>
    qd.simt.block.sync
    memref.store %y, %a[%t] : memref<?xi32>
    qd.simt.block.sync
    %z = memref.load %a[%j] : memref<?xi32>
    %r = arith.addi %z, %y : i32
    memref.store %r, %o[%t] : memref<?xi32>
  }
}
