// A body is passed the address of its launch's kernel arguments, which it reads as a structure of the arguments' own types; shared
// arrays become variables of the module.

// RUN: qd-opt %s --qd-convert-to-spirv | FileCheck %s
// RUN: qd-opt %s --qd-convert-to-spirv=target=metal | FileCheck %s --check-prefix=METAL

module {

// Word 0 is the number of blocks. A buffer is its address and, but for rank 0, its length; a scalar is no less than 32 bits.
// CHECK:       spirv.GlobalVariable @__qd_words_parameters : !spirv.ptr<!spirv.struct<(!spirv.ptr<!spirv.struct<(i32 [0],
// CHECK-SAME:    !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, PhysicalStorageBuffer> [8], i64 [16],
// CHECK-SAME:    !spirv.ptr<!spirv.struct<(!spirv.rtarray<i32, stride=4> [0])>, PhysicalStorageBuffer> [24],
// CHECK-SAME:    f32 [32], i32 [40], i64 [48])>, PhysicalStorageBuffer> [0])>, PushConstant>

// A length is read to 32 bits where that is all there is, and stays at its place.
// METAL:       spirv.GlobalVariable @__qd_words_parameters : !spirv.ptr<!spirv.struct<(!spirv.ptr<!spirv.struct<(i32 [0],
// METAL-SAME:    PhysicalStorageBuffer> [8], i32 [16],
// METAL-SAME:    PhysicalStorageBuffer> [24], f32 [32], i32 [40], i32 [48])>, PhysicalStorageBuffer> [0])>, PushConstant>

// CHECK-LABEL: func.func @parameters() attributes {qd.threads = 128 : i64}
// CHECK:         %[[PUSHED:.*]] = spirv.mlir.addressof @__qd_words_parameters
// CHECK:         %[[AT:.*]] = spirv.AccessChain %[[PUSHED]][%{{.*}}]
// CHECK:         %[[WORDS:.*]] = spirv.Load "PushConstant" %[[AT]]
// CHECK:         %[[TWO:.*]] = spirv.Constant 1 : i32
// CHECK:         %[[A_AT:.*]] = spirv.AccessChain %[[WORDS]][%[[TWO]]]
// CHECK:         %[[A:.*]] = spirv.Load "PhysicalStorageBuffer" %[[A_AT]] ["Aligned", 8]
// CHECK:         spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 8] : i64
// CHECK:         spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 4] : f32
// CHECK:         %[[NARROW:.*]] = spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 4] : i32
// CHECK:         arith.trunci %[[NARROW]] : i32 to i8
// CHECK:         %[[X:.*]] = spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 8] : i64
// CHECK:         spirv.AccessChain %[[A]][%{{.*}}, %[[X]]]
// CHECK:         return
// METAL-LABEL: func.func @parameters() attributes {qd.threads = 128 : i64}
// METAL-NOT:     i64
// METAL:         return
func.func private @parameters(%a: memref<?xf32>, %n: memref<i32>, %f: f32, %i: i8, %x: index) attributes {qd.threads = 128 : i64, qd.wave = 32 : i64} {
  memref.store %f, %a[%x] : memref<?xf32>
  %w = arith.extui %i : i8 to i32
  memref.store %w, %n[] : memref<i32>
  return
}

// Unused arguments are not loaded, and the others keep their places.
// CHECK-LABEL: func.func @unread(
// CHECK-COUNT-2: spirv.Load "PhysicalStorageBuffer"
// CHECK-SAME:    ["Aligned", 8] : i64
// CHECK-NOT:     spirv.Load
// CHECK:         return
func.func private @unread(%a: memref<?xi32>, %b: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %c0 = arith.constant 0 : index
  %v = arith.constant 7 : i32
  memref.store %v, %b[%c0] : memref<?xi32>
  return
}

// The number of blocks is the first word.
// CHECK-LABEL: func.func @blocks(
// CHECK:         %[[WORDS:.*]] = spirv.Load "PushConstant"
// CHECK:         %[[FIRST:.*]] = spirv.Constant 0 : i32
// CHECK:         spirv.AccessChain %[[WORDS]][%[[FIRST]]] {{.*}} -> !spirv.ptr<i32, PhysicalStorageBuffer>
// CHECK:         %[[N:.*]] = spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 4] : i32
// CHECK:         arith.extui %[[N]] : i32 to i64
func.func private @blocks(%a: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %n = qd.simt.grid.dim
  %v = arith.constant 7 : i32
  memref.store %v, %a[%n] : memref<?xi32>
  return
}

// Other threads may access the same memory; truth values are bytes, and floats are kept as integers, which have atomics.
// CHECK:       spirv.GlobalVariable @__qd_shared_shared_0 : !spirv.ptr<!spirv.array<64 x i8>, Workgroup>
// CHECK:       spirv.GlobalVariable @__qd_shared_shared_1 : !spirv.ptr<!spirv.array<32 x i32>, Workgroup>
// CHECK-LABEL: func.func @shared(
// CHECK:         %[[SHARED:.*]] = spirv.mlir.addressof @__qd_shared_shared_0
// CHECK:         %[[BYTE_AT:.*]] = spirv.AccessChain %[[SHARED]][%{{.*}}]
// CHECK:         %[[BYTE:.*]] = spirv.Load "Workgroup" %[[BYTE_AT]] ["NonPrivatePointer"] : i8
// CHECK:         %[[SET:.*]] = arith.cmpi ne, %[[BYTE]], %{{.*}} : i8
// CHECK:         arith.extui %[[SET]] : i1 to i8
// CHECK:         spirv.Store "Workgroup" %{{.*}}, %{{.*}} ["NonPrivatePointer"] : i8
// Rows of 8: 3 * 8 + 5.
// CHECK:         %[[AT:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
// CHECK:         spirv.AccessChain %{{.*}}[%[[AT]]] {{.*}} -> !spirv.ptr<i32, Workgroup>
func.func private @shared(%x: index, %y: index, %v: f32) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
  %a = qd.simt.block.shared : memref<64xi1, #gpu.address_space<workgroup>>
  %b = qd.simt.block.shared : memref<4x8xf32, #gpu.address_space<workgroup>>
  %p = memref.load %a[%x] : memref<64xi1, #gpu.address_space<workgroup>>
  memref.store %p, %a[%y] : memref<64xi1, #gpu.address_space<workgroup>>
  memref.store %v, %b[%x, %y] : memref<4x8xf32, #gpu.address_space<workgroup>>
  return
}
}
