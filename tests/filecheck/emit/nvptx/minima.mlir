// PTX has the minima and maxima that the reference means, one instruction each: to them −0 is below +0. Where an atomic has none,
// they are what is exchanged. A tile is filled up with NaNs, which they ignore.

// RUN: qd-translate %s --target=nvptx:sm_90 --emit=asm | FileCheck %s

// CHECK-LABEL: .entry pairs_phase_0_{{[0-9a-f]+}}(
// CHECK:         min.NaN.f32
// CHECK:         max.NaN.f32
// CHECK:         min.f32
// CHECK:         max.f32
// CHECK-NOT:     setp.{{.*}}f32
qd.grid.kernel @pairs(%x: memref<?xf32>, %y: memref<?xf32>, %o0: memref<?xf32>, %o1: memref<?xf32>, %o2: memref<?xf32>,
                      %o3: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  qd.grid.for_each %i to %n {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %y[%i] : memref<?xf32>
    %r0 = arith.minimumf %a, %b : f32
    memref.store %r0, %o0[%i] : memref<?xf32>
    %r1 = arith.maximumf %a, %b : f32
    memref.store %r1, %o1[%i] : memref<?xf32>
    %r2 = arith.minnumf %a, %b : f32
    memref.store %r2, %o2[%i] : memref<?xf32>
    %r3 = arith.maxnumf %a, %b : f32
    memref.store %r3, %o3[%i] : memref<?xf32>
  }
}

// CHECK-LABEL: .entry atomic_phase_0_{{[0-9a-f]+}}(
// CHECK:         min.f32 [[NEXT:%r[0-9]+]],
// CHECK-NEXT:    atom.relaxed.gpu.global.cas.b32 %{{.*}}, [[NEXT]];
qd.grid.kernel @atomic(%x: memref<?xf32>, %o: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  qd.grid.for_each %i to %n {
    %a = memref.load %x[%i] : memref<?xf32>
    %0 = qd.grid.atomic.rmw minnumf %a, %o[%c0] device relaxed : memref<?xf32>
  }
}

// CHECK-LABEL: .entry reduce_{{[0-9a-f]+}}(
// CHECK:         mov.b32 %{{.*}}, 0f7FC00000
// CHECK:         selp.f32 %{{.*}}, 0f7F800000, %{{.*}}
qd.grid.kernel @least(%x: memref<?xf32>, %o: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce minnumf ins(%x : memref<?xf32>) outs(%o : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// Flags are compared, and not added up.
// CHECK-LABEL: .entry select_count_{{[0-9a-f]+}}(
// CHECK:         ld.global.{{.*}} %r{{[0-9]+}}
// CHECK:         setp.ne.b32 %{{.*}}, {{%r[0-9]+}}, 0
// CHECK:         vote.sync.ballot.b32
qd.grid.kernel @kept(%x: memref<?xi32>, %flags: memref<?xi32>, %o: memref<?xi32>, %num: memref<i32>, %s: memref<?xi32>,
                     %n: memref<i32>) {
  qd.algo.select ins(%x, %flags : memref<?xi32>, memref<?xi32>) outs(%o, %num : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
