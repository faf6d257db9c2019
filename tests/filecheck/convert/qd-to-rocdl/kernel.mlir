// A body becomes a kernel for blocks of its size, which keeps its subgroup size; arrays are in LDS and in private memory.

// RUN: qd-opt %s --qd-convert-to-rocdl=arch=gfx1100 | FileCheck %s

module {

// CHECK-LABEL: llvm.func @parameters(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: !llvm.ptr<1> {llvm.noalias, llvm.noundef}, %[[LEN:[a-z0-9]+]]: i64 {llvm.noundef},
// CHECK-SAME:    %[[F:[a-z0-9]+]]: i64 {llvm.noundef})
// CHECK-SAME:    attributes {qd.threads = 128 : i64, qd.wave = 64 : i64, rocdl.flat_work_group_size = "128,128", rocdl.kernel}
// CHECK:         llvm.addrspacecast %[[A]] : !llvm.ptr<1> to !llvm.ptr
func.func private @parameters(%a: memref<?xf32> {llvm.noalias}, %f: f32) attributes {qd.threads = 128 : i64, qd.wave = 64 : i64} {
  %t = qd.simt.block.thread_id
  memref.store %f, %a[%t] : memref<?xf32>
  return
}

// Room for 4 blocks of 256 threads: 16 waves on the two SIMDs of a compute unit.
// CHECK-LABEL: llvm.func @occupancy(
// CHECK-SAME:    rocdl.waves_per_eu = 8 : i32
func.func private @occupancy() attributes {qd.blocks_per_core = 4 : i64, qd.threads = 256 : i64, qd.wave = 64 : i64} {
  return
}

// CHECK:       llvm.mlir.global internal @__qd_shared_arrays_0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x f32>
// CHECK-LABEL: llvm.func @arrays(
// CHECK:         %[[OWN:.*]] = llvm.alloca %{{.*}} x f32 : (i64) -> !llvm.ptr<5>
// CHECK:         llvm.addrspacecast %[[OWN]] : !llvm.ptr<5> to !llvm.ptr
// CHECK:         %[[AT:.*]] = llvm.mlir.addressof @__qd_shared_arrays_0 : !llvm.ptr<3>
// CHECK:         llvm.addrspacecast %[[AT]] : !llvm.ptr<3> to !llvm.ptr
func.func private @arrays(%v: f32) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c0 = arith.constant 0 : index
  %a = qd.simt.block.shared : memref<64xf32, #gpu.address_space<workgroup>>
  %m = memref.alloca() : memref<4xf32>
  %t = qd.simt.block.thread_id
  memref.store %v, %a[%t] : memref<64xf32, #gpu.address_space<workgroup>>
  memref.store %v, %m[%c0] : memref<4xf32>
  return
}

// Numbers of threads are those of the packet that a launch is: there are no hidden arguments.
// CHECK-LABEL: llvm.func @identity(
// CHECK:         rocdl.workgroup.id.x : i32
// CHECK:         %[[PACKET:.*]] = llvm.call_intrinsic "llvm.amdgcn.dispatch.ptr"() : () -> !llvm.ptr<4>
// CHECK:         llvm.getelementptr %[[PACKET]][%c12_i64{{.*}}] : (!llvm.ptr<4>, i64) -> !llvm.ptr<4>, i8
// CHECK:         llvm.load %{{.*}} invariant {alignment = 4 : i64} : !llvm.ptr<4> -> i32
// CHECK:         llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr<4> -> i16
// CHECK:         arith.divui
// CHECK:         %[[T:.*]] = rocdl.workitem.id.x : i32
// CHECK:         arith.andi %[[T]], %c63{{.*}} : i32
// CHECK:         arith.shrui %{{.*}}, %c6{{.*}} : i32
func.func private @identity(%o: memref<?xindex>, %p: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %b = qd.simt.block.id
  %g = qd.simt.grid.dim
  %l = qd.simt.lane_id
  %s = qd.simt.subgroup_id
  memref.store %g, %o[%b] : memref<?xindex>
  memref.store %l, %p[%b] : memref<?xi32>
  memref.store %s, %p[%b] : memref<?xi32>
  return
}

// An extent is a field of the descriptor, not of an array in private memory.
// CHECK-LABEL: llvm.func @extent(
// CHECK-NOT:     llvm.alloca
// CHECK:         llvm.extractvalue %{{.*}}[3, 0]
func.func private @extent(%a: memref<?xindex>) attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xindex>
  memref.store %n, %a[%c0] : memref<?xindex>
  return
}
}
