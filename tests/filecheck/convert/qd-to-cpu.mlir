// The cpu conversion of a body's signature, and of control flow around
// collectives.
// RUN: qd-opt %s --qd-convert-to-cpu --split-input-file | FileCheck %s

// A pointer, and a length where there is one, for each buffer. Only what is said not to overlap is promised to LLVM.
// CHECK-LABEL: func.func private @body.blocks(
// CHECK-SAME: index, %{{.*}}: index, %{{.*}}: index,
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.noalias, llvm.nonnull, llvm.noundef}, %{{.*}}: i64,
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.nonnull, llvm.noundef}, %{{.*}}: f32,
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.noalias, llvm.nonnull, llvm.noundef})
// CHECK-LABEL: func.func @body(%{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr)
module {
  func.func private @body(%a: memref<?xf32> {llvm.noalias}, %b: memref<f32>, %x: f32, %c: memref<f32> {llvm.noalias}) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %t = qd.simt.block.thread_id
    memref.store %x, %a[%t] : memref<?xf32>
    return
  }
}

// -----

// Control that is uniform in a subgroup: a loop over the subgroups, and in it loops
// over the lanes of one.
// CHECK-LABEL: func.func private @by_subgroup.blocks(
// CHECK: scf.for
// CHECK: scf.for %[[FIRST:.*]] = %{{.*}} to %{{.*}} step %[[WAVE:.*]] {
// CHECK: %[[END:.*]] = arith.addi %[[FIRST]], %{{.*}} : index
// CHECK: %[[TAKEN:.*]] = memref.load %{{.*}}[%[[FIRST]]] : memref<64xi1>
// CHECK: scf.if %[[TAKEN]] {
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]]
module {
  func.func private @by_subgroup(%a: memref<?xi32>, %p: memref<?xi1>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %q = memref.load %p[%t] : memref<?xi1>
    %any = qd.simt.any %q
    scf.if %any {
      %s = qd.simt.reduce_all add %v : i32
      memref.store %s, %a[%t] : memref<?xi32>
    }
    return
  }
}

// -----

// Control that is uniform in the block takes no such loop, though a collective makes it.
// CHECK-LABEL: func.func private @by_block.blocks(
// CHECK: %[[MOST:.*]] = memref.load %{{.*}}[%c0{{.*}}] : memref<64xi1>
// CHECK-NEXT: scf.if %[[MOST]] {
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c64
module {
  func.func private @by_block(%a: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %zero = arith.constant 0 : i32
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %most = qd.simt.block.reduce_all maxsi %v : i32
    %f = arith.sitofp %most : i32 to f32
    %fz = arith.sitofp %zero : i32 to f32
    %some = arith.cmpf ogt, %f, %fz : f32
    scf.if %some {
      %s = qd.simt.reduce_all add %v : i32
      memref.store %s, %a[%t] : memref<?xi32>
    }
    return
  }
}
