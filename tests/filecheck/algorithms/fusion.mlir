// A map in front of an algorithm is made of what the algorithm's own phases load: a
// reduce has no buffer between, and a select by a predicate loads each element of a full tile once.

// RUN: qd-opt %s --qd-to-grid=target=nvptx:sm_90 | FileCheck %s
// RUN: qd-translate %s --target=nvptx:sm_90 --emit=asm | FileCheck %s --check-prefix=PTX

// CHECK-LABEL: qd.grid.kernel @sum_of_squares(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32> {qd.scratch}
// CHECK-NOT:     "square"
// CHECK:         qd.grid.phase "reduce"
// CHECK-NOT:       %[[Y]]{{[^0-9]}}
// CHECK:           scf.for
// CHECK:             %[[V0:.*]] = memref.load %[[X]]
// CHECK-NEXT:        %[[W0:.*]] = arith.mulf %[[V0]], %[[V0]]
// CHECK-NOT:         %[[Y]]{{[^0-9]}}
// CHECK:             %[[V1:.*]] = memref.load %[[X]]
// CHECK-NEXT:        %[[W1:.*]] = arith.mulf %[[V1]], %[[V1]]
// CHECK-NEXT:        arith.addf %[[W0]], %[[W1]]
// CHECK-NOT:     %[[Y]]{{[^0-9]}}
// CHECK-NOT:     qd.grid.phase
// CHECK-NOT:     %[[Y]]{{[^0-9]}}

// PTX-LABEL: .entry reduce_{{[0-9a-f]+}}(
// The count.
// PTX:         min.u32
// PTX:         ld.global.nc.b32 [[V:%r[0-9]+]]
// PTX:         mul.rn.f32 %{{.*}}, [[V]], [[V]]
qd.grid.kernel @sum_of_squares(%x: memref<?xf32>, %y: memref<?xf32> {qd.scratch}, %sum: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %x, %c0 : memref<?xf32>
  qd.grid.for_each "square" %i to %len count(%n : memref<i32>) {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = arith.mulf %v, %v : f32
    memref.store %w, %y[%i] : memref<?xf32>
  }
  qd.algo.reduce add ins(%y : memref<?xf32>) outs(%sum : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4 {qd.tuning = {blocks_per_core = 0, items = 2, threads = 1024}}
}

// CHECK-LABEL: qd.grid.kernel @above(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xi32>, %[[FLAGS:[^:]*]]: memref<?xi32> {qd.scratch}
// CHECK-NOT:     "flag"
// CHECK:         qd.grid.phase "select.sweep"
// CHECK-NOT:       %[[FLAGS]]{{[^0-9]}}
// CHECK:           -> (i32, i32, i32, i32) {
// CHECK:             %[[V0:.*]] = memref.load %[[X]]
// CHECK-NEXT:        arith.cmpi sgt, %[[V0]], %{{.*}}
// CHECK-NEXT:        %[[F0:.*]] = arith.extui
// CHECK-NOT:         memref.load
// CHECK:             %[[V1:.*]] = memref.load %[[X]]
// CHECK-NEXT:        arith.cmpi sgt, %[[V1]], %{{.*}}
// CHECK-NEXT:        %[[F1:.*]] = arith.extui
// CHECK-NOT:         memref.load
// CHECK:             scf.yield %[[F0]], %[[F1]], %[[V0]], %[[V1]]
// CHECK:         memref.prefetch %[[X]]
// CHECK-NOT:     memref.prefetch
// CHECK-NOT:     %[[FLAGS]]{{[^0-9]}}
qd.grid.kernel @above(%x: memref<?xi32>, %flags: memref<?xi32> {qd.scratch}, %out: memref<?xi32>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>, %t: i32) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "flag" %i to %len count(%n : memref<i32>) {
    %v = memref.load %x[%i] : memref<?xi32>
    %p = arith.cmpi sgt, %v, %t : i32
    %flag = arith.extui %p : i1 to i32
    memref.store %flag, %flags[%i] : memref<?xi32>
  }
  qd.algo.select ins(%x, %flags : memref<?xi32>, memref<?xi32>) outs(%out, %num : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4 {qd.tuning = {blocks_per_core = 0, items = 2, threads = 1024}}
}
