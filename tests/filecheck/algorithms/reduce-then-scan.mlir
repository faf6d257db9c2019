// Where no block may wait for another, partitions and selections take two passes: flags are read in
// the first, which stores one bit of each, and elements in the second.

// RUN: qd-opt %s --qd-expand-algorithms=target=nvptx:sm_90 --split-input-file | FileCheck %s
// RUN: qd-opt %s --qd-expand-algorithms=target=any --split-input-file | FileCheck %s --check-prefix=ANY

// In the first pass no barrier stands between one subgroup tile and the next. The last block to
// finish scans the chunks' counts, writes how many elements are flagged, and resets the control
// word. In the second pass a subgroup waits for no other.
// CHECK-LABEL: qd.grid.kernel @partition
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?xf32>, %[[F:[a-z0-9]+]]: memref<?xi32>, %[[OUT:[a-z0-9]+]]: memref<?xf32>
// CHECK-SAME:    %[[NUM:[a-z0-9]+]]: memref<i32>, %[[S:[a-z0-9]+]]: memref<?xi32>
// CHECK-NOT:     qd.grid.fill
// CHECK:         %[[COUNTED:.*]] = qd.grid.control : memref<1xi32>
// CHECK:         qd.grid.phase "partition.count" blocks(%{{.*}}) threads(256)
// CHECK-NOT:       memref.load %[[A]]
// CHECK:           scf.for
// CHECK-NOT:         qd.simt.block.sync
// CHECK-COUNT-16:    memref.load %[[F]]
// CHECK-COUNT-16:    qd.simt.ballot
// CHECK:             memref.store %{{.*}}, %[[S]]
// CHECK:           qd.simt.block.sync
// CHECK:           qd.grid.atomic.rmw add %{{.*}}, %[[COUNTED]][%{{.*}}] device acq_rel
// CHECK:           qd.simt.block.exclusive_scan add
// CHECK:           memref.store %{{.*}}, %[[NUM]][]
// CHECK:           qd.grid.atomic.store %{{.*}}, %[[COUNTED]]
// CHECK:         qd.grid.phase "partition.move"
// CHECK:           %[[PACKED:.*]] = qd.simt.block.shared : memref<4096xf32, #gpu.address_space<workgroup>>
// CHECK-NOT:       memref.load %[[F]]
// CHECK-NOT:       qd.simt.block.sync
// CHECK-COUNT-16:  memref.load %[[A]]
// CHECK:           memref.load %[[S]]
// CHECK:           memref.load %[[NUM]][]
// CHECK-COUNT-16:  memref.store %{{.*}}, %[[PACKED]]
// CHECK:           qd.simt.sync
// CHECK:           %[[V:.*]] = memref.load %[[PACKED]]
// CHECK-NEXT:      memref.store %[[V]], %[[OUT]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @partition(%a: memref<?xf32>, %f: memref<?xi32>, %out: memref<?xf32>, %num: memref<i32>,
                          %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.partition ins(%a, %f : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
      {qd.tuning = {threads = 256, items = 16}}
}

// -----

// Tiles that are larger than the target's shared memory are not packed.
// CHECK-LABEL: qd.grid.kernel @large
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?xf64>, %{{[a-z0-9]+}}: memref<?xi32>, %[[OUT:[a-z0-9]+]]: memref<?xf64>
// CHECK:         qd.grid.phase "select.move"
// WAITS:           qd.simt.block.shared : memref<4096xf64, #gpu.address_space<workgroup>>
// NOBODY-NOT:      qd.simt.block.shared
// NOBODY:          %[[V:.*]] = memref.load %[[A]]
// NOBODY-NEXT:     memref.store %[[V]], %[[OUT]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @large(%a: memref<?xf64>, %f: memref<?xi32>, %out: memref<?xf64>, %num: memref<i32>,
                      %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.select ins(%a, %f : memref<?xf64>, memref<?xi32>) outs(%out, %num : memref<?xf64>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
      {qd.tuning = {threads = 256, items = 16}}
}

// -----

// Rows go straight to the output.
// CHECK-LABEL: qd.grid.kernel @rows
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x3xf32>, %{{[a-z0-9]+}}: memref<?xi32>, %[[OUT:[a-z0-9]+]]: memref<?x3xf32>
// CHECK:         qd.grid.phase "partition.move"
// CHECK-NOT:       qd.simt.block.shared
// CHECK-COUNT-3:   memref.load %[[A]]
// CHECK-COUNT-3:   memref.store %{{.*}}, %[[OUT]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @rows(%a: memref<?x3xf32>, %f: memref<?xi32>, %out: memref<?x3xf32>, %num: memref<i32>,
                     %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.partition ins(%a, %f : memref<?x3xf32>, memref<?xi32>) outs(%out, %num : memref<?x3xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
}

// -----

// Scratch flags may be recomputed where they are read: a selection by them takes one pass on a
// target with forward progress. A partition takes two all the same. Without a measured tuning, both
// are hierarchical.
// CHECK-LABEL: qd.grid.kernel @scratch_flags
// ANY-LABEL:   qd.grid.kernel @scratch_flags
// CHECK:         qd.grid.fill
// CHECK:         qd.grid.phase "select.sweep"
// ANY-NOT:       qd.grid.phase "{{.*}}.count"
// CHECK:         qd.grid.phase "partition.count"
// CHECK:         qd.grid.phase "partition.move"
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @scratch_flags(%a: memref<?xi32>, %f: memref<?xi32> {qd.scratch}, %out: memref<?xi32>,
                              %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.select ins(%a, %f : memref<?xi32>, memref<?xi32>) outs(%out, %num : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  qd.algo.partition ins(%a, %f : memref<?xi32>, memref<?xi32>) outs(%out, %num : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
}

// -----

// What one block does in one step is a hierarchy of one level.
// CHECK-LABEL: qd.grid.kernel @one_block
// CHECK:         qd.grid.phase "partition.last"
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @one_block(%a: memref<?xi32>, %f: memref<?xi32>, %out: memref<?xi32>, %num: memref<i32>,
                          %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.partition ins(%a, %f : memref<?xi32>, memref<?xi32>) outs(%out, %num : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1 strategy = "reduce_then_scan"
}
