// Barriers, fences and atomics: acquire and release of all of memory, made visible and available. Floats are swapped in
// as integers until that holds; a load is an "or" with nothing, for the dialect has no atomic loads.

// RUN: qd-opt %s --qd-convert-to-spirv | FileCheck %s

module {

// CHECK-LABEL: func.func @barriers(
// CHECK:         spirv.ControlBarrier <Subgroup>, <Subgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory|MakeAvailable|MakeVisible>
// CHECK:         spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory|MakeAvailable|MakeVisible>
// CHECK:         spirv.MemoryBarrier <Subgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory|MakeAvailable|MakeVisible>
// CHECK:         spirv.MemoryBarrier <Workgroup>, <AcquireRelease
// CHECK:         spirv.MemoryBarrier <Device>, <AcquireRelease
func.func private @barriers() attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  qd.simt.sync
  qd.simt.block.sync
  qd.simt.mem_fence
  qd.simt.block.mem_fence
  qd.grid.mem_fence
  return
}

// CHECK-LABEL: func.func @integers(
// CHECK:         spirv.AtomicIAdd <Device> <None> %{{.*}}, %[[V:.*]] : !spirv.ptr<i32, PhysicalStorageBuffer>
// CHECK:         spirv.AtomicUMax <Device> <Acquire|UniformMemory|WorkgroupMemory|MakeVisible> %{{.*}}, %[[V]]
// CHECK:         spirv.AtomicXor <Workgroup> <Release|UniformMemory|WorkgroupMemory|MakeAvailable> %{{.*}}, %[[V]]
// CHECK:         spirv.AtomicSMin <Subgroup> <AcquireRelease|UniformMemory|WorkgroupMemory|MakeAvailable|MakeVisible> %{{.*}}, %[[V]]
// CHECK:         spirv.AtomicExchange <Device> <None> %{{.*}}, %[[V]]
func.func private @integers(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %t = qd.simt.block.thread_id
  %0 = qd.grid.atomic.rmw add %v, %a[%t] device relaxed : memref<?xi32>
  %1 = qd.grid.atomic.rmw maxui %v, %a[%t] device acquire : memref<?xi32>
  %2 = qd.grid.atomic.rmw xor %v, %a[%t] block release : memref<?xi32>
  %3 = qd.grid.atomic.rmw minsi %v, %a[%t] subgroup acq_rel : memref<?xi32>
  %4 = memref.atomic_rmw assign %v, %a[%t] : (i32, memref<?xi32>) -> i32
  return
}

// CHECK-LABEL: func.func @loads_and_stores(
// CHECK:         %[[BITS:.*]] = spirv.AtomicOr <Device> <Acquire|UniformMemory|WorkgroupMemory|MakeVisible> %{{.*}}, %c0_i64{{.*}} : !spirv.ptr<i64, PhysicalStorageBuffer>
// CHECK:         %[[X:.*]] = arith.bitcast %[[BITS]] : i64 to f64
// CHECK:         %[[SAME:.*]] = arith.bitcast %[[X]] : f64 to i64
// CHECK:         spirv.AtomicExchange <Workgroup> <Release|UniformMemory|WorkgroupMemory|MakeAvailable> %{{.*}}, %[[SAME]]
// A failed exchange only loads: it cannot release.
// CHECK:         spirv.AtomicCompareExchange <Device> <AcquireRelease|UniformMemory|WorkgroupMemory|MakeAvailable|MakeVisible> <Acquire|UniformMemory|WorkgroupMemory|MakeVisible> %{{.*}}, %[[D:.*]], %[[E:.*]] : !spirv.ptr<i64
// CHECK:         spirv.AtomicCompareExchange <Device> <Release|UniformMemory|WorkgroupMemory|MakeAvailable> <None>
func.func private @loads_and_stores(%a: memref<?xf64>, %b: memref<?xi64>, %e: i64, %d: i64) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %t = qd.simt.block.thread_id
  %0 = qd.grid.atomic.load %a[%t] device acquire : memref<?xf64>
  qd.grid.atomic.store %0, %a[%t] block release : memref<?xf64>
  %1 = qd.grid.atomic.cas %e, %d, %b[%t] device acq_rel : memref<?xi64>
  %2 = qd.grid.atomic.cas %e, %d, %b[%t] device release : memref<?xi64>
  return
}

// CHECK-LABEL: func.func @floats(
// CHECK:         %[[FIRST:.*]] = spirv.AtomicOr <Device> <None> %[[AT:.*]], %c0_i32{{.*}} : !spirv.ptr<i32, PhysicalStorageBuffer>
// CHECK:         scf.while (%[[SEEN:.*]] = %[[FIRST]],
// CHECK:         ^bb0(%[[OLD:.*]]: i32,
// CHECK:           %[[X:.*]] = arith.bitcast %[[OLD]] : i32 to f32
// CHECK:           %[[SUM:.*]] = arith.addf %[[X]], %{{.*}} : f32
// CHECK:           %[[BITS:.*]] = arith.bitcast %[[SUM]] : f32 to i32
// CHECK:           %[[NOW:.*]] = spirv.AtomicCompareExchange <Device> <None> <None> %[[AT]], %[[BITS]], %[[OLD]]
// CHECK:           %[[DONE:.*]] = arith.cmpi eq, %[[NOW]], %[[OLD]] : i32
// CHECK:           scf.yield %[[NOW]], %[[DONE]]
func.func private @floats(%a: memref<?xf32>, %v: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %t = qd.simt.block.thread_id
  %0 = qd.grid.atomic.rmw add %v, %a[%t] device relaxed : memref<?xf32>
  return
}

// Floats in shared memory are integers.
// CHECK-LABEL: func.func @shared(
// CHECK:         spirv.mlir.addressof @__qd_shared_shared_0 : !spirv.ptr<!spirv.array<64 x i32>, Workgroup>
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[V:.*]] : f32 to i32
// CHECK:         spirv.Store "Workgroup" %{{.*}}, %[[BITS]] ["NonPrivatePointer"] : i32
// CHECK:         spirv.AtomicCompareExchange <Workgroup> {{.*}} : !spirv.ptr<i32, Workgroup>
// CHECK:         %[[WORD:.*]] = spirv.Load "Workgroup" {{.*}} : i32
// CHECK:         arith.bitcast %[[WORD]] : i32 to f32
func.func private @shared(%v: f32, %o: memref<?xf32>) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %a = qd.simt.block.shared : memref<64xf32, #gpu.address_space<workgroup>>
  %t = qd.simt.block.thread_id
  memref.store %v, %a[%t] : memref<64xf32, #gpu.address_space<workgroup>>
  %0 = qd.grid.atomic.rmw minnumf %v, %a[%t] block relaxed : memref<64xf32, #gpu.address_space<workgroup>>
  %1 = memref.load %a[%t] : memref<64xf32, #gpu.address_space<workgroup>>
  memref.store %1, %o[%t] : memref<?xf32>
  return
}
}
