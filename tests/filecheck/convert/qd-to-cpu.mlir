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
// CHECK: %[[MOST:.*]] = memref.load %{{.*}}[%c0{{.*}}] : memref<64xi32>
// CHECK: %[[F:.*]] = arith.sitofp %[[MOST]] : i32 to f32
// CHECK: %[[SOME:.*]] = arith.cmpf ogt, %[[F]]
// CHECK-NEXT: scf.if %[[SOME]] {
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

// -----

// What a block's threads add up together is one number, and what a loop carries of it
// is no array.
// CHECK-LABEL: func.func private @running.blocks(
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (i32) {
// CHECK: %[[TOTAL:.*]] = memref.load %{{.*}}[%c0{{.*}}] : memref<64xi32>
// CHECK: %[[NEXT:.*]] = arith.addi %[[SUM]], %[[TOTAL]] : i32
// CHECK-NOT: scf.for
// CHECK: scf.yield %[[NEXT]] : i32
module {
  func.func private @running(%a: memref<?xi32>, %out: memref<?xi32>, %n: index) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %t = qd.simt.block.thread_id
    %sum = scf.for %i = %c0 to %n step %c64 iter_args(%so_far = %zero) -> (i32) {
      %at = arith.addi %i, %t : index
      %v = memref.load %a[%at] : memref<?xi32>
      %total = qd.simt.block.reduce_all add %v : i32
      %next = arith.addi %so_far, %total : i32
      scf.yield %next : i32
    }
    memref.store %sum, %out[%t] : memref<?xi32>
    return
  }
}

// -----

// An exchange with the lane 8 further: runs of 8 threads change places, and no index depends on a lane. One by another
// mask reads element by element.
// CHECK-LABEL: func.func private @exchange.blocks(
// CHECK: %[[BOTH:.*]] = arith.constant 16 : index
// CHECK: scf.for %[[BASE:.*]] = %{{.*}} to %{{.*}} step %[[BOTH]] {
// CHECK: %[[LENGTH:.*]] = arith.constant 8 : index
// CHECK: %[[NEXT:.*]] = arith.addi %[[BASE]], %[[LENGTH]] : index
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[TO:.*]] = arith.addi %[[BASE]], %[[I]] : index
// CHECK: %[[FROM:.*]] = arith.addi %[[NEXT]], %[[I]] : index
// CHECK: memref.load %{{.*}}[%[[FROM]]]
// CHECK: memref.store %{{.*}}[%[[TO]]]
// CHECK: scf.for
// CHECK: arith.xori
module {
  func.func private @exchange(%a: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %t = qd.simt.block.thread_id
    %c8 = arith.constant 8 : i32
    %c5 = arith.constant 5 : i32
    %v = memref.load %a[%t] : memref<?xi32>
    %x = qd.simt.shuffle xor %v, %c8 : i32
    %y = qd.simt.shuffle xor %x, %c5 : i32
    memref.store %y, %a[%t] : memref<?xi32>
    return
  }
}
