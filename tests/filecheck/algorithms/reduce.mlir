// The hierarchical strategy makes of reduce a tree of D phases in which every block combines 256 elements,
// in order. Grids come from the buffer and the capacity, bounds from the count
// that is read on the device.

// RUN: qd-opt %s --qd-expand-algorithms --split-input-file | FileCheck %s

// With capacity for one tile, one block does all of it and needs no scratch.
// CHECK-LABEL: qd.grid.kernel @one_level
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?xf32>, %[[OUT:[a-z0-9]+]]: memref<1xf32>, %[[S:[a-z0-9]+]]: memref<?xi32>, %[[N:[a-z0-9]+]]: memref<i32>
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         qd.grid.phase "reduce.0" blocks(%[[ONE]]) threads(256) attributes {qd.wave = "any"} {
// CHECK:           %[[COUNT:.*]] = memref.load %[[N]][] : memref<i32>
// CHECK:           scf.if
// CHECK:             %[[V:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK:               memref.load %[[A]]
// CHECK:             } else {
// CHECK:               arith.constant 0.0
// CHECK:             }
// CHECK:             %[[R:.*]] = qd.simt.block.reduce add %[[V]] : f32
// CHECK:             scf.if
// CHECK:               memref.store %[[R]], %[[OUT]]
// CHECK-NOT:     %[[S]]
// CHECK-NOT:     qd.algo
qd.grid.kernel @one_level(%a: memref<?xf32>, %out: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

// Four levels, four launches: the least that a tree of 256 branches takes.
// CHECK-LABEL: qd.grid.kernel @four_levels
// CHECK-COUNT-4: qd.grid.phase
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @four_levels(%a: memref<?xi64>, %out: memref<?xi64>, %s: memref<?xi64>, %n: memref<i64>) {
  qd.algo.reduce minui ins(%a : memref<?xi64>) outs(%out : memref<?xi64>)
      scratch(%s : memref<?xi64>) count(%n : memref<i64>) log256_max_n = 4 strategy = "hierarchical"
}

// -----

// A region goes along, and partials keep their bits in scratch of integers.
// CHECK-LABEL: qd.grid.kernel @composed_maps
// CHECK:         qd.grid.phase "reduce.0"
// CHECK:           %[[R:.*]]:2 = qd.simt.block.reduce %{{.*}}, %{{.*}} : f32, f64 identity [1.000000e+00 : f32, 0.000000e+00] combiner {
// CHECK:           ^bb0(%{{.*}}: f32, %{{.*}}: f64, %[[RA:.*]]: f32, %[[RB:.*]]: f64):
// CHECK:             qd.yield
// CHECK:           }
// CHECK:           %[[FIRST:.*]] = arith.bitcast %[[R]]#0 : f32 to i32
// CHECK:           memref.store %[[FIRST]], %{{.*}} : memref<?xi32>
// CHECK:           %[[SECOND:.*]] = arith.bitcast %[[R]]#1 : f64 to i64
// CHECK:           memref.store %[[SECOND]], %{{.*}} : memref<?xi64>
// CHECK:         qd.grid.phase "reduce.1"
qd.grid.kernel @composed_maps(%a: memref<?xf32>, %b: memref<?xf64>, %ao: memref<1xf32>, %bo: memref<1xf64>,
                              %sa: memref<?xi32>, %sb: memref<?xi64>, %n: memref<i32>) {
  qd.algo.reduce ins(%a, %b : memref<?xf32>, memref<?xf64>) outs(%ao, %bo : memref<1xf32>, memref<1xf64>)
      scratch(%sa, %sb : memref<?xi32>, memref<?xi64>) count(%n : memref<i32>) log256_max_n = 2
      identity [1.0 : f32, 0.0 : f64] combiner {
      ^bb0(%la: f32, %lb: f64, %ra: f32, %rb: f64):
        %m = arith.mulf %la, %ra : f32
        %w = arith.extf %ra : f32 to f64
        %x = arith.mulf %lb, %w : f64
        %y = arith.addf %x, %rb : f64
        qd.yield %m, %y : f32, f64
      }
}

// -----

// In a loop it is expanded where it stands.
// CHECK-LABEL: qd.grid.kernel @in_a_loop
// CHECK:         qd.grid.do_while
// CHECK-COUNT-2:   qd.grid.phase "reduce
// CHECK:         }
qd.grid.kernel @in_a_loop(%a: memref<?xi32>, %flag: memref<i32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.grid.do_while %flag : memref<i32> {
    qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
        scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 strategy = "hierarchical"
  }
}
