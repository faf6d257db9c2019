// With forward progress, scans take one pass: a fill that clears the tiles' descriptors, and a
// phase, whatever the capacity.

// RUN: qd-opt %s --qd-expand-algorithms=target=nvptx:sm_90 --split-input-file --verify-diagnostics | FileCheck %s

// Blocks take tiles by ticket. Striped elements are exchanged in shared memory, and one subgroup
// waits for the tiles before. A later tile is prefetched.
// CHECK-LABEL: qd.grid.kernel @scan
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?xi32>, %[[OUT:[a-z0-9]+]]: memref<?xi32>, %[[S:[a-z0-9]+]]: memref<?xi32>
// CHECK:         qd.grid.fill %[[S]]
// CHECK:         qd.grid.phase "exclusive_scan.sweep" blocks(%{{.*}}) threads(256)
// CHECK:           %[[TILE:.*]] = qd.simt.block.shared : memref<5888xi32, #gpu.address_space<workgroup>>
// CHECK:           qd.grid.atomic.rmw add %{{.*}}, %[[S]]
// CHECK:           qd.simt.block.sync
// CHECK-COUNT-23:  memref.load %[[A]]
// CHECK:           memref.prefetch %[[A]]
// CHECK:           memref.store %{{.*}}, %[[TILE]]
// CHECK:           qd.simt.block.sync
// CHECK:           qd.simt.block.exclusive_scan add
// CHECK:           qd.grid.atomic.store %{{.*}}, %[[S]][%{{.*}}] device relaxed
// CHECK-COUNT-23:  memref.store %{{.*}}, %[[TILE]]
// CHECK:           qd.simt.pause 2000
// CHECK:           scf.while
// CHECK:             qd.grid.atomic.load %[[S]][%{{.*}}] device relaxed
// CHECK:             scf.while
// CHECK:               qd.simt.ballot
// CHECK:             qd.simt.reduce_all add
// CHECK:           qd.grid.atomic.store %{{.*}}, %[[S]][%{{.*}}] device relaxed
// CHECK:           qd.simt.block.sync
// CHECK:           memref.store %{{.*}}, %[[OUT]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @scan(%a: memref<?xi32>, %out: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.exclusive_scan add ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
      {qd.tuning = {threads = 256, items = 23, blocks_per_core = 6, ahead = 100, pause = 2000}}
}

// -----

// What one block combines in one step is a hierarchy of one level.
// CHECK-LABEL: qd.grid.kernel @one_block
// CHECK-NOT:     qd.grid.fill
// CHECK:         qd.grid.phase "inclusive_scan.last"
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @one_block(%a: memref<?xi32>, %out: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.inclusive_scan add ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

// Deterministic order-sensitive sums have the order of runs, groups, tiles and bands: no collective
// combines. The tiles of the band before this one are combined from the left, lane by lane, and then the
// bands: of the window back with a prefix, and of those after it. A tile of doubles has 256 × 23.
// CHECK-LABEL: qd.grid.kernel @float
// CHECK:         qd.grid.fill
// CHECK:         qd.grid.phase "inclusive_scan.sweep"
// CHECK-SAME:        threads(256)
// CHECK:             memref<5888xf64, #gpu.address_space<workgroup>>
// CHECK-NOT:       qd.simt.{{(block\.)?(reduce|exclusive_scan|inclusive_scan)}}
// CHECK-COUNT-12:  qd.simt.shuffle idx
// CHECK-NOT:       qd.simt.shuffle idx
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @float(%a: memref<?xf64>, %out: memref<?xf64>, %s: memref<?xi64>, %n: memref<i32>) {
  qd.algo.inclusive_scan add ins(%a : memref<?xf64>) outs(%out : memref<?xf64>)
      scratch(%s : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3 deterministic
}

// -----

qd.grid.kernel @fixed_tiles(%a: memref<?xf64>, %out: memref<?xf64>, %s: memref<?xi64>, %n: memref<i32>) {
  // expected-error @below {{'qd.tuning' sets items: the tiles of a deterministic combination of floats are fixed}}
  qd.algo.inclusive_scan add ins(%a : memref<?xf64>) outs(%out : memref<?xf64>)
      scratch(%s : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3 deterministic {qd.tuning = {items = 20}}
}

// -----

qd.grid.kernel @fixed_tiles_of_a_sum(%a: memref<?xf64>, %out: memref<f64>, %s: memref<?xi64>, %n: memref<i32>) {
  // expected-error @below {{'qd.tuning' sets threads: the tiles of a deterministic combination of floats are fixed}}
  qd.algo.reduce add ins(%a : memref<?xf64>) outs(%out : memref<f64>)
      scratch(%s : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3 deterministic {qd.tuning = {threads = 256}}
}

// -----

// A maximum of floats is not order-sensitive.
// CHECK-LABEL: qd.grid.kernel @largest
// CHECK:           qd.simt.reduce_all maxnumf
qd.grid.kernel @largest(%a: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.inclusive_scan maxnumf ins(%a : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
}

// -----

// Several scratch buffers are cleared by one phase.
// CHECK-LABEL: qd.grid.kernel @pairs
// CHECK-NOT:     qd.grid.fill
// CHECK:         qd.grid.phase "exclusive_scan.clear"
// CHECK:         qd.grid.phase "exclusive_scan.sweep"
// CHECK:           memref<2816xi32, #gpu.address_space<workgroup>>
// CHECK:           memref<2816xi64, #gpu.address_space<workgroup>>
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @pairs(%a: memref<?xi32>, %b: memref<?xi64>, %c: memref<?xi32>, %d: memref<?xi64>,
                      %s: memref<?xi32>, %t: memref<?xi64>, %n: memref<i32>) {
  qd.algo.exclusive_scan ins(%a, %b : memref<?xi32>, memref<?xi64>) outs(%c, %d : memref<?xi32>, memref<?xi64>)
      scratch(%s, %t : memref<?xi32>, memref<?xi64>) count(%n : memref<i32>) log256_max_n = 2
      identity [0 : i32, 0 : i64] combiner {
      ^bb0(%la: i32, %lb: i64, %ra: i32, %rb: i64):
        %x = arith.addi %la, %ra : i32
        %y = arith.addi %lb, %rb : i64
        qd.yield %x, %y : i32, i64
      }
}

// -----

// Elements are loaded together with their flags, selected or not, and ranked by ballots. They are
// packed in shared memory after the tile's aggregate is published, and before the block waits for
// other tiles.
// CHECK-LABEL: qd.grid.kernel @select
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?xf32>, %[[F:[a-z0-9]+]]: memref<?xi32>, %[[OUT:[a-z0-9]+]]: memref<?xf32>
// CHECK-SAME:    %[[S:[a-z0-9]+]]: memref<?xi32>, %{{[a-z0-9]+}}: memref<i32>)
// CHECK:         qd.grid.fill
// CHECK:         qd.grid.phase "select.sweep" blocks(%{{.*}}) threads(256)
// CHECK:           %[[PACKED:.*]] = qd.simt.block.shared : memref<4096xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-16:  memref.load %[[F]]
// CHECK-COUNT-16:  memref.load %[[A]]
// CHECK-COUNT-16:  qd.simt.ballot
// CHECK-NOT:       memref.load %[[A]]
// CHECK:           qd.simt.block.sync
// CHECK:           qd.grid.atomic.store %{{.*}}, %[[S]]
// CHECK-COUNT-16:  memref.store %{{.*}}, %[[PACKED]]
// CHECK:           qd.grid.atomic.load %[[S]]
// CHECK:           qd.simt.block.sync
// CHECK:           %[[V:.*]] = memref.load %[[PACKED]]
// CHECK-NEXT:      memref.store %[[V]], %[[OUT]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @select(%a: memref<?xf32>, %f: memref<?xi32>, %out: memref<?xf32>, %num: memref<i32>,
                       %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.select ins(%a, %f : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4 strategy = "lookback"
      {qd.tuning = {threads = 256, items = 16}}
}

// -----

// Rows are not packed: they go straight to the output.
// CHECK-LABEL: qd.grid.kernel @rows
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x3xf32>, %{{[a-z0-9]+}}: memref<?xi32>, %[[OUT:[a-z0-9]+]]: memref<?x3xf32>
// CHECK:         qd.grid.phase "select.sweep"
// CHECK-NOT:       qd.simt.block.shared : memref<{{[0-9]+}}xf32
// CHECK:           qd.simt.ballot
// CHECK:           scf.while
// CHECK:           qd.simt.block.sync
// CHECK-COUNT-3:   memref.load %[[A]]
// CHECK-COUNT-3:   memref.store %{{.*}}, %[[OUT]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @rows(%a: memref<?x3xf32>, %f: memref<?xi32>, %out: memref<?x3xf32>, %num: memref<i32>,
                     %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.select ins(%a, %f : memref<?x3xf32>, memref<?xi32>) outs(%out, %num : memref<?x3xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 strategy = "lookback"
}

// -----

// Each key and value is loaded once, and exchanged within a subgroup. The scan is over a pair a
// thread: a number of heads and a sum. The tile's aggregate is published, its 96 bits in four
// words. Runs are staged in shared memory before the block waits for the tiles before. After that,
// only the tile's first value changes, and all runs are written.
// CHECK-LABEL: qd.grid.kernel @by_key
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?xi32>, %[[V:[a-z0-9]+]]: memref<?xf64>, %[[KO:[a-z0-9]+]]: memref<?xi32>, %[[VO:[a-z0-9]+]]: memref<?xf64>, %[[RUNS:[a-z0-9]+]]: memref<i32>, %[[S:[a-z0-9]+]]: memref<?xi32>
// CHECK:         qd.grid.fill %[[S]]
// CHECK:         qd.grid.phase "reduce_by_key.sweep"
// CHECK:           %[[KEYS:.*]] = qd.simt.block.shared : memref<[[TILE:[0-9]+]]xi32, #gpu.address_space<workgroup>>
// CHECK:           %[[VALUES:.*]] = qd.simt.block.shared : memref<[[TILE]]xf64, #gpu.address_space<workgroup>>
// CHECK:           memref.load %[[V]]
// CHECK:           memref.store %{{.*}}, %[[KEYS]]
// CHECK-NOT:       qd.simt.block.sync
// CHECK:           qd.simt.sync
// CHECK-NOT:       memref.load %[[K]]
// CHECK-NOT:       memref.load %[[V]]
// CHECK:           qd.simt.block.exclusive_scan %{{.*}}, %{{.*}} : i32, f64
// CHECK-COUNT-4:   qd.grid.atomic.store %{{.*}}, %[[S]]
// CHECK-NOT:       qd.grid.atomic.store
// CHECK:           qd.simt.block.sync
// CHECK:           memref.store %{{.*}}, %[[KEYS]]
// CHECK:           memref.store %{{.*}}, %[[VALUES]]
// CHECK-COUNT-4:   qd.grid.atomic.load %[[S]]
// CHECK-NOT:       qd.grid.atomic.load
// CHECK:           qd.simt.ballot
// CHECK:           memref.store %{{.*}}, %[[RUNS]]
// CHECK:           qd.simt.block.sync
// CHECK:           memref.store %{{.*}}, %[[VALUES]]
// CHECK:           memref.load %[[KEYS]]
// CHECK-NEXT:      memref.store %{{.*}}, %[[KO]]
// CHECK:           memref.store %{{.*}}, %[[VO]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @by_key(%k: memref<?xi32>, %v: memref<?xf64>, %ko: memref<?xi32>, %vo: memref<?xf64>,
                       %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf64>)
      outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf64>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}

// -----

// CHECK-LABEL: qd.grid.kernel @wide
// CHECK:         qd.grid.phase "exclusive_scan.up1"
qd.grid.kernel @wide(%a: memref<?xi64>, %b: memref<?xi64>, %c: memref<?xi64>, %d: memref<?xi64>, %e: memref<?xi64>,
                     %p: memref<?xi64>, %q: memref<?xi64>, %r: memref<?xi64>, %s: memref<?xi64>, %t: memref<?xi64>,
                     %u: memref<?xi64>, %v: memref<?xi64>, %w: memref<?xi64>, %x: memref<?xi64>, %y: memref<?xi64>,
                     %n: memref<i32>) {
  qd.algo.exclusive_scan ins(%a, %b, %c, %d, %e : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>)
      outs(%p, %q, %r, %s, %t : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>)
      scratch(%u, %v, %w, %x, %y : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>)
      count(%n : memref<i32>) log256_max_n = 2
      identity [0 : i64, 0 : i64, 0 : i64, 0 : i64, 0 : i64] combiner {
      ^bb0(%la: i64, %lb: i64, %lc: i64, %ld: i64, %le: i64, %ra: i64, %rb: i64, %rc: i64, %rd: i64, %re: i64):
        %1 = arith.addi %la, %ra : i64
        %2 = arith.addi %lb, %rb : i64
        %3 = arith.addi %lc, %rc : i64
        %4 = arith.addi %ld, %rd : i64
        %5 = arith.addi %le, %re : i64
        qd.yield %1, %2, %3, %4, %5 : i64, i64, i64, i64, i64
      }
}

// -----

qd.grid.kernel @too_wide(%a: memref<?xi64>, %b: memref<?xi64>, %c: memref<?xi64>, %d: memref<?xi64>, %e: memref<?xi64>,
                         %p: memref<?xi64>, %q: memref<?xi64>, %r: memref<?xi64>, %s: memref<?xi64>, %t: memref<?xi64>,
                         %u: memref<?xi64>, %v: memref<?xi64>, %w: memref<?xi64>, %x: memref<?xi64>, %y: memref<?xi64>,
                         %n: memref<i32>) {
  // expected-error @below {{combines elements of 40 bytes: strategy 'lookback' is for 32 at most}}
  qd.algo.exclusive_scan ins(%a, %b, %c, %d, %e : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>)
      outs(%p, %q, %r, %s, %t : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>)
      scratch(%u, %v, %w, %x, %y : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>)
      count(%n : memref<i32>) log256_max_n = 2 strategy = "lookback"
      identity [0 : i64, 0 : i64, 0 : i64, 0 : i64, 0 : i64] combiner {
      ^bb0(%la: i64, %lb: i64, %lc: i64, %ld: i64, %le: i64, %ra: i64, %rb: i64, %rc: i64, %rd: i64, %re: i64):
        qd.yield %la, %lb, %lc, %ld, %le : i64, i64, i64, i64, i64
      }
}

// -----

qd.grid.kernel @no_setting(%a: memref<?xi32>, %out: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error @below {{'qd.tuning' has no 'warps', only threads, items, blocks_per_core, ahead, pause}}
  qd.algo.exclusive_scan add ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4 {qd.tuning = {warps = 8}}
}

// -----

qd.grid.kernel @no_number(%a: memref<?xi32>, %out: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error @below {{'qd.tuning' has items = 1000 : i64, not 1 to 64}}
  qd.algo.exclusive_scan add ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4 {qd.tuning = {items = 1000}}
}

// -----

qd.grid.kernel @no_room(%a: memref<?xi32>, %out: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error @below {{'qd.tuning' makes tiles of 256 elements: scratch has room for those of 1280 and more}}
  qd.algo.exclusive_scan add ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4 {qd.tuning = {threads = 128, items = 2}}
}

// -----

qd.grid.kernel @no_tile(%k: memref<?xi32>, %t: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error @below {{sorts by 512 threads a block, and tiles of 4096 keys at least: not 256 threads and 4096 keys}}
  qd.algo.sort keys(%k, %t : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>)
      log256_max_n = 4 {qd.tuning = {threads = 256}}
}
