// On a latency-oriented target every algorithm takes long chunks, a block each: a fixed number of
// launches whatever the capacity, and one where that is a single chunk.

// RUN: qd-opt %s --qd-expand-algorithms=target=cpu --split-input-file | FileCheck %s

// Each thread adds up elements a tile apart, and one loop then combines the threads. The loop over
// threads has no predicate, and its iterations load consecutive elements.
// CHECK-LABEL: qd.grid.kernel @reduce
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?xf32>
// CHECK:         qd.grid.phase "reduce.chunks"
// CHECK:           %[[SUMS:.*]] = scf.for %[[TILE:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32) {
// CHECK-NEXT:        %[[I:.*]] = arith.addi %[[TILE]], %{{.*}} : index
// CHECK-NEXT:        %[[V:.*]] = memref.load %[[A]][%[[I]]]
// CHECK-NEXT:        %[[NEXT:.*]] = arith.addf %[[SUM]], %[[V]] : f32
// CHECK-NEXT:        scf.yield %[[NEXT]] : f32
// CHECK:           qd.simt.block.reduce add
// CHECK:         qd.grid.phase "reduce.last"
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @reduce(%a: memref<?xf32>, %out: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}

// -----

// A combiner that need not commute goes through its chunk in order.
// CHECK-LABEL: qd.grid.kernel @reduce_in_order
// CHECK:         qd.grid.phase "reduce.chunks"
// CHECK:           scf.for
// CHECK-NOT:       qd.simt.block.reduce
// CHECK:         qd.grid.phase "reduce.last"
qd.grid.kernel @reduce_in_order(%a: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
      identity [0 : i32] combiner {
      ^bb0(%x: i32, %y: i32):
        %c0 = arith.constant 0 : i32
        %none = arith.cmpi eq, %x, %c0 : i32
        %r = arith.select %none, %y, %x : i32
        qd.yield %r : i32
      }
}

// -----

// CHECK-LABEL: qd.grid.kernel @scan
// CHECK-COUNT-2: qd.grid.phase "inclusive_scan.{{up|last}}"
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @scan(%a: memref<?xi32>, %out: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.inclusive_scan add ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}

// -----

// CHECK-LABEL: qd.grid.kernel @one_chunk
// CHECK-COUNT-5: qd.grid.phase
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @one_chunk(%a: memref<?xi32>, %b: memref<?xi32>, %c: memref<?xi32>, %d: memref<?xi32>, %e: memref<?xi32>,
                          %f: memref<?xi32>, %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%b : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  qd.algo.exclusive_scan add ins(%a : memref<?xi32>) outs(%c : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  qd.algo.select ins(%a, %b : memref<?xi32>, memref<?xi32>) outs(%d, %m : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
  qd.algo.partition ins(%a, %b : memref<?xi32>, memref<?xi32>) outs(%d, %m : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  qd.algo.reduce_by_key add ins(%a, %b : memref<?xi32>, memref<?xi32>)
      outs(%e, %f, %m : memref<?xi32>, memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
}

// -----

// Packing stores every element and has no branch on the flag.
// CHECK-LABEL: qd.grid.kernel @select
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?xf32>, %[[F:[a-z0-9]+]]: memref<?xi32>, %[[OUT:[a-z0-9]+]]: memref<?xf32>
// CHECK:         qd.grid.phase "select.count"
// CHECK:         qd.grid.phase "select.move"
// CHECK:           %[[PACKED:.*]] = qd.simt.block.shared : memref<256xf32, #gpu.address_space<workgroup>>
// CHECK:           scf.for %{{.*}} iter_args(%[[TO:.*]] = %{{.*}}) -> (index) {
// CHECK:           scf.for %[[I:.*]] = %{{.*}} iter_args(%[[AT:.*]] = %{{.*}}) -> (index) {
// CHECK-NEXT:        %[[V:.*]] = memref.load %[[A]][%[[I]]]
// CHECK-NEXT:        memref.store %[[V]], %[[PACKED]][%[[AT]]]
// CHECK-NEXT:        memref.load %[[F]][%[[I]]]
// CHECK-NOT:         scf.if
// CHECK:             scf.yield
// CHECK:           scf.for
// CHECK:             memref.store %{{.*}}, %[[OUT]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @select(%a: memref<?xf32>, %f: memref<?xi32>, %out: memref<?xf32>, %num: memref<i32>,
                       %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.select ins(%a, %f : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}

// -----

// The number of flagged elements is there before the last phase.
// CHECK-LABEL: qd.grid.kernel @partition
// CHECK:         qd.grid.phase "partition.up"
// CHECK:         qd.grid.phase "partition.top"
// CHECK:         qd.grid.phase "partition.last"
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @partition(%a: memref<?xf32>, %f: memref<?xi32>, %out: memref<?xf32>, %num: memref<i32>,
                          %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.partition ins(%a, %f : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

// CHECK-LABEL: qd.grid.kernel @reduce_by_key
// CHECK-COUNT-2: qd.grid.phase "reduce_by_key.{{up|last}}"
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @reduce_by_key(%k: memref<?xi32>, %v: memref<?xf64>, %ko: memref<?xi32>, %vo: memref<?xf64>,
                              %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf64>)
      outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf64>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}

// -----

// Three launches a digit.
// CHECK-LABEL: qd.grid.kernel @sort
// CHECK:          qd.grid.phase "sort.histogram0"
// CHECK:          qd.grid.phase "sort.offsets0"
// CHECK:          qd.grid.phase "sort.scatter0"
// CHECK-COUNT-9:  qd.grid.phase
// CHECK-NOT:      qd.grid.phase
qd.grid.kernel @sort(%k: memref<?xi32>, %tk: memref<?xi32>, %v: memref<?xi64>, %tv: memref<?xi64>,
                     %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>) values(%v, %tv : memref<?xi64>, memref<?xi64>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}
