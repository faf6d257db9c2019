// Reduce by key is one scan of pairs, a number of heads and the combination
// since the last one: in order, without atomics, in the scan's 2D − 1 phases.

// RUN: qd-opt %s --qd-expand-algorithms --split-input-file | FileCheck %s

// CHECK-LABEL: qd.grid.kernel @sums
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?xf32>, %[[V:[a-z0-9]+]]: memref<?xf32>, %[[KO:[a-z0-9]+]]: memref<?xf32>, %[[VO:[a-z0-9]+]]: memref<?xf32>, %[[RUNS:[a-z0-9]+]]: memref<i32>
// CHECK:         qd.grid.phase "reduce_by_key.last"
// A NaN key differs from every other.
// CHECK:           arith.cmpf une
// CHECK:           qd.simt.block.inclusive_scan %{{.*}}, %{{.*}} : i32, f32 identity [0 : i32, -0.000000e+00 : f32] combiner {
// CHECK:           ^bb0(%[[M:.*]]: i32, %[[U:.*]]: f32, %[[N:.*]]: i32, %[[W:.*]]: f32):
// CHECK:             %[[JOINED:.*]] = arith.addf %[[U]], %[[W]] : f32
// CHECK:             %[[HEAD:.*]] = arith.cmpi ne, %[[N]], %{{.*}} : i32
// CHECK:             %[[SINCE:.*]] = arith.select %[[HEAD]], %[[W]], %[[JOINED]] : f32
// CHECK:             %[[HEADS:.*]] = arith.addi %[[M]], %[[N]] : i32
// CHECK:             qd.yield %[[HEADS]], %[[SINCE]] : i32, f32
// CHECK:           memref.store %{{.*}}, %[[KO]]
// CHECK:           memref.store %{{.*}}, %[[VO]]
// CHECK:           memref.store %{{.*}}, %[[RUNS]][]
// CHECK-NOT:     qd.grid.phase
// CHECK-NOT:     qd.grid.atomic
qd.grid.kernel @sums(%k: memref<?xf32>, %v: memref<?xf32>, %ko: memref<?xf32>, %vo: memref<?xf32>,
                     %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xf32>, memref<?xf32>)
      outs(%ko, %vo, %runs : memref<?xf32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

// A region is part of the pairs' combiner. Its 8-byte values lie in scratch as
// two words, aligned to nothing.
// CHECK-LABEL: qd.grid.kernel @region
// CHECK:         qd.grid.phase "reduce_by_key.up1"
// CHECK:           combiner {
// CHECK:             arith.subi
// CHECK:           arith.trunci %{{.*}} : i64 to i32
// CHECK:           arith.trunci %{{.*}} : i64 to i32
// CHECK:         qd.grid.phase "reduce_by_key.top"
// CHECK:           arith.extui %{{.*}} : i32 to i64
// CHECK:         qd.grid.phase "reduce_by_key.last"
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @region(%k: memref<?xi32>, %v: memref<?xi64>, %ko: memref<?xi32>, %vo: memref<?xi64>,
                       %runs: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce_by_key ins(%k, %v : memref<?xi32>, memref<?xi64>)
      outs(%ko, %vo, %runs : memref<?xi32>, memref<?xi64>, memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
      identity [0 : i64] combiner {
      ^bb0(%x: i64, %y: i64):
        %z = arith.constant 0 : i64
        %m = arith.subi %z, %y : i64
        %r = arith.subi %x, %m : i64
        qd.yield %r : i64
      }
}

// -----

// CHECK-LABEL: qd.grid.kernel @four_levels
// CHECK-COUNT-7: qd.grid.phase
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @four_levels(%k: memref<?xi32>, %v: memref<?xi32>, %ko: memref<?xi32>, %vo: memref<?xi32>,
                            %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xi32>)
      outs(%ko, %vo, %runs : memref<?xi32>, memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}
