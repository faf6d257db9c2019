// A body becomes a kernel whose parameters are the words that the launch plan lists; shared arrays become variables of the module.

// RUN: qd-opt %s --qd-convert-to-nvvm=arch=sm_90 | FileCheck %s

module {

// Each buffer is a pointer and, but for rank 0, a length; each scalar is a word whose low bits it is.
// CHECK-LABEL: llvm.func @parameters(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: !llvm.ptr<1> {llvm.noalias, llvm.noundef}, %[[LEN:[a-z0-9]+]]: i64 {llvm.noundef},
// CHECK-SAME:    %[[N:[a-z0-9]+]]: !llvm.ptr<1> {llvm.noalias, llvm.noundef},
// CHECK-SAME:    %[[F:[a-z0-9]+]]: i64 {llvm.noundef}, %[[I:[a-z0-9]+]]: i64 {llvm.noundef}, %[[X:[a-z0-9]+]]: i64 {llvm.noundef})
// CHECK-SAME:    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>}
// CHECK:         llvm.addrspacecast %[[A]] : !llvm.ptr<1> to !llvm.ptr
// CHECK:         llvm.insertvalue %[[LEN]], %{{.*}}[3, 0]
// CHECK:         llvm.addrspacecast %[[N]] : !llvm.ptr<1> to !llvm.ptr
// CHECK:         %[[BITS:.*]] = arith.trunci %[[F]] : i64 to i32
// CHECK:         arith.bitcast %[[BITS]] : i32 to f32
// CHECK:         arith.trunci %[[I]] : i64 to i32
// CHECK:         arith.index_castui %[[X]] : i64 to index
// CHECK:         llvm.return
func.func private @parameters(%a: memref<?xf32> {llvm.noalias}, %n: memref<i32> {llvm.noalias}, %f: f32, %i: i32, %x: index) attributes {qd.threads = 128 : i64, qd.wave = 32 : i64} {
  memref.store %f, %a[%x] : memref<?xf32>
  memref.store %i, %n[] : memref<i32>
  return
}

// Rows of a static length: only the leading extent is passed.
// CHECK-LABEL: llvm.func @rows(
// CHECK-SAME:    !llvm.ptr<1> {{{[^,]*}}}, %{{[a-z0-9]+}}: i64 {llvm.noundef})
// CHECK:         llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
func.func private @rows(%a: memref<?x3xi64>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  memref.store %zero, %a[%c0, %c0] : memref<?x3xi64>
  return
}

// CHECK:       llvm.mlir.global internal @__qd_shared_shared_0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x f32>
// CHECK:       llvm.mlir.global internal @__qd_shared_shared_1() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<32 x i64>
// CHECK-LABEL: llvm.func @shared(
// Blocks wait at barriers: room for 768 threads.
// CHECK-SAME:    nvvm.minctasm = 12 : i32
// CHECK:         %[[AT:.*]] = llvm.mlir.addressof @__qd_shared_shared_0 : !llvm.ptr<3>
// CHECK:         llvm.addrspacecast %[[AT]] : !llvm.ptr<3> to !llvm.ptr
// CHECK:         llvm.mlir.addressof @__qd_shared_shared_1 : !llvm.ptr<3>
// CHECK:         memref.store %{{.*}} : memref<64xf32>
// CHECK:         scf.if %{{.*}} -> (memref<64xf32>)
func.func private @shared(%v: f32, %c: i1) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %a = qd.simt.block.shared : memref<64xf32, #gpu.address_space<workgroup>>
  %b = qd.simt.block.shared : memref<4x8xi64, #gpu.address_space<workgroup>>
  %t = qd.simt.block.thread_id
  memref.store %v, %a[%t] : memref<64xf32, #gpu.address_space<workgroup>>
  %e = scf.if %c -> memref<64xf32, #gpu.address_space<workgroup>> {
    scf.yield %a : memref<64xf32, #gpu.address_space<workgroup>>
  } else {
    scf.yield %a : memref<64xf32, #gpu.address_space<workgroup>>
  }
  memref.store %v, %e[%t] : memref<64xf32, #gpu.address_space<workgroup>>
  return
}

// Private arrays stand at the top of the kernel, once.
// CHECK-LABEL: llvm.func @private_array(
// CHECK:         llvm.alloca %{{.*}} x i32
// CHECK:         scf.for
// CHECK-NOT:       alloca
func.func private @private_array(%n: index, %v: i32) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %m = memref.alloca() : memref<4xi32>
    memref.store %v, %m[%c0] : memref<4xi32>
  }
  return
}

// An index in memory is a word.
// CHECK: llvm.mlir.global internal @__qd_shared_indices_0() {{.*}} : !llvm.array<64 x i64>
func.func private @indices() attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %s = qd.simt.block.shared : memref<64xindex, #gpu.address_space<workgroup>>
  %t = qd.simt.block.thread_id
  memref.store %t, %s[%t] : memref<64xindex, #gpu.address_space<workgroup>>
  return
}

// CHECK-LABEL: llvm.func @identity(
// CHECK:         nvvm.read.ptx.sreg.ctaid.x : i32
// CHECK:         nvvm.read.ptx.sreg.nctaid.x : i32
// CHECK:         nvvm.read.ptx.sreg.tid.x : i32
// CHECK:         %[[T:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK:         arith.andi %[[T]], %c31{{.*}} : i32
// CHECK:         %[[T2:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK:         arith.shrui %[[T2]], %c5{{.*}} : i32
func.func private @identity(%o: memref<?xindex>, %p: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %b = qd.simt.block.id
  %g = qd.simt.grid.dim
  %t = qd.simt.block.thread_id
  %l = qd.simt.lane_id
  %s = qd.simt.subgroup_id
  memref.store %b, %o[%t] : memref<?xindex>
  memref.store %g, %o[%b] : memref<?xindex>
  memref.store %l, %p[%t] : memref<?xi32>
  memref.store %s, %p[%b] : memref<?xi32>
  return
}
}
