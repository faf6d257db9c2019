// Memrefs become pointers and offsets: each access knows the buffer behind its views.

// RUN: qd-opt %s --qd-convert-to-spirv --canonicalize --cse | FileCheck %s

module {

// Every access says that others may make one to the same memory.
// CHECK-LABEL: func.func @rows(
// CHECK:         %[[AT:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
// CHECK:         %[[P:.*]] = spirv.AccessChain %{{.*}}[%{{.*}}, %[[AT]]] {{.*}} -> !spirv.ptr<i64, PhysicalStorageBuffer>
// CHECK:         spirv.Load "PhysicalStorageBuffer" %[[P]] ["Aligned|NonPrivatePointer", 8] : i64
// CHECK:         spirv.Store "PhysicalStorageBuffer" %[[P]], %{{.*}} ["Aligned|NonPrivatePointer", 8] : i64
func.func private @rows(%a: memref<?x3xi64>, %i: index, %j: index) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %x = memref.load %a[%i, %j] : memref<?x3xi64>
  %y = arith.addi %x, %x : i64
  memref.store %y, %a[%i, %j] : memref<?x3xi64>
  return
}

// A view of wider elements: offsets are counted in those. Its length is its own.
// CHECK-LABEL: func.func @view(
// CHECK:         %[[WIDE:.*]] = spirv.Bitcast %{{.*}} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<i32, stride=4> [0])>, PhysicalStorageBuffer>
// CHECK-SAME:      to !spirv.ptr<!spirv.struct<(!spirv.rtarray<i64, stride=8> [0])>, PhysicalStorageBuffer>
// CHECK:         %[[P:.*]] = spirv.AccessChain %[[WIDE]][%{{.*}}, %{{.*}}] {{.*}} -> !spirv.ptr<i64, PhysicalStorageBuffer>
// CHECK:         spirv.Store "PhysicalStorageBuffer" %[[P]], %{{.*}} ["Aligned|NonPrivatePointer", 8] : i64
func.func private @view(%s: memref<?xi32>, %offset: index, %size: index, %i: index) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %c0 = arith.constant 0 : index
  %v = qd.grid.view %s[%offset] [%size] : memref<?xi32> to memref<?xi64>
  %length = memref.dim %v, %c0 : memref<?xi64>
  %n = arith.index_cast %length : index to i64
  memref.store %n, %v[%i] : memref<?xi64>
  return
}

// Offsets and strides of a view add up: ((1 + 2 * i) * 4 + 3) of rows of 4.
// CHECK-LABEL: func.func @subview(
// CHECK:         %[[ROWS:.*]] = arith.muli %{{.*}}, %c8_i64 : i64
// CHECK:         %[[AT:.*]] = arith.addi %[[ROWS]], %c7_i64 : i64
// CHECK:         spirv.AccessChain %{{.*}}[%{{.*}}, %[[AT]]] {{.*}} -> !spirv.ptr<f32, PhysicalStorageBuffer>
func.func private @subview(%a: memref<8x4xf32>, %i: index, %v: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %s = memref.subview %a[1, 3] [3, 1] [2, 1] : memref<8x4xf32> to memref<3xf32, strided<[8], offset: 7>>
  memref.store %v, %s[%i] : memref<3xf32, strided<[8], offset: 7>>
  return
}

// An atomic of 8 or 16 bits compares and swaps the aligned word around the element.
// CHECK-LABEL: func.func @narrow(
// CHECK:         %[[P:.*]] = spirv.AccessChain {{.*}} -> !spirv.ptr<i8, PhysicalStorageBuffer>
// CHECK:         %[[ADDRESS:.*]] = spirv.ConvertPtrToU %[[P]] : !spirv.ptr<i8, PhysicalStorageBuffer> to i64
// CHECK:         %[[ALIGNED:.*]] = arith.andi %[[ADDRESS]], %c-4_i64 : i64
// CHECK:         %[[WORD:.*]] = spirv.ConvertUToPtr %[[ALIGNED]] : i64 to !spirv.ptr<i32, PhysicalStorageBuffer>
// CHECK:         %[[BYTE:.*]] = arith.andi %[[ADDRESS]], %c3_i64 : i64
// CHECK:         spirv.AtomicOr <Device> <None> %[[WORD]]
// CHECK:         scf.while
// CHECK:           spirv.AtomicCompareExchange <Device> {{.*}} %[[WORD]]
func.func private @narrow(%a: memref<?xi8>, %i: index, %v: i8) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %old = qd.grid.atomic.rmw add %v, %a[%i] device relaxed : memref<?xi8>
  return
}

// A thread's own array is a variable at the top, wherever the op is.
// CHECK-LABEL: func.func @own(
// CHECK:         %[[OWN:.*]] = spirv.Variable : !spirv.ptr<!spirv.array<4 x f32>, Function>
// CHECK:         scf.for
// CHECK:           %[[P:.*]] = spirv.AccessChain %[[OWN]][%{{.*}}] : !spirv.ptr<!spirv.array<4 x f32>, Function>, i64 -> !spirv.ptr<f32, Function>
// CHECK:           spirv.Store "Function" %[[P]], %{{.*}} : f32
func.func private @own(%n: index, %v: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %own = memref.alloca() : memref<4xf32>
    memref.store %v, %own[%i] : memref<4xf32>
  }
  return
}
}
