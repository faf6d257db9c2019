// The target's capabilities choose the strategy, unless the op names one.

// RUN: qd-opt %s --qd-expand-algorithms --split-input-file --verify-diagnostics | FileCheck %s --check-prefixes=CHECK,ANY
// RUN: qd-opt %s --qd-expand-algorithms=target=cpu,wave=16 --split-input-file --verify-diagnostics | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: not qd-opt %s --qd-expand-algorithms=target=gpu --split-input-file 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not qd-opt %s --qd-to-grid=target=cpu,wave=5 --split-input-file 2>&1 | FileCheck %s --check-prefix=WAVE

// UNKNOWN: error: unknown target 'gpu': expected one of any, cpu
// WAVE: target 'cpu' has no wave of '5': expected one of 4, 8, 16, 32, 64

// A throughput-oriented target reduces in one launch, a latency-oriented one in long chunks.
// CHECK-LABEL:  qd.grid.kernel @chosen
// ANY:          qd.grid.phase "reduce"
// CPU:          qd.grid.phase "reduce.chunks"
// CPU:          qd.grid.phase "reduce.last"
// CHECK-NOT:    qd.grid.phase
qd.grid.kernel @chosen(%a: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}

// -----

// CHECK-LABEL: qd.grid.kernel @asked_for
// CHECK-COUNT-2: qd.grid.phase "reduce
qd.grid.kernel @asked_for(%a: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 strategy = "hierarchical"
}

// -----

// Every mistake is reported, not only the first.
qd.grid.kernel @unknown(%a: memref<?xi32>, %b: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error @below {{'qd.algo.reduce' op has no strategy 'magic': expected one of fixed_order, chunked, tiled, hierarchical}}
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 strategy = "magic"
  // expected-error @below {{'qd.algo.sort' op has no strategy 'quick': expected one of chunked, onesweep, hierarchical}}
  qd.algo.sort keys(%a, %b : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 1 strategy = "quick"
}

// -----

// Deterministic sums of floats have one order on all targets, in tiles of one size.
// CHECK-LABEL: qd.grid.kernel @in_order
// CHECK:         qd.grid.phase "reduce" blocks(%{{.*}}) threads(256)
// CHECK-NOT:     qd.simt.{{(block\.)?}}reduce
// CHECK:         qd.grid.phase
// CPU-SAME:        "inclusive_scan.up"
// CPU:           qd.grid.phase "inclusive_scan.top"
// CPU:           qd.grid.phase "inclusive_scan.last"
// ANY-SAME:        "inclusive_scan.up"
qd.grid.kernel @in_order(%a: memref<?xf32>, %out: memref<1xf32>, %b: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 deterministic
  qd.algo.inclusive_scan add ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 deterministic
}

// -----

qd.grid.kernel @other_orders(%a: memref<?xf32>, %k: memref<?xi32>, %out: memref<1xf32>, %b: memref<?xf32>,
                             %ko: memref<?xi32>, %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error @below {{combines floats and is deterministic: strategy 'tiled' has an order of its own}}
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 strategy = "tiled" deterministic
  // expected-error @below {{combines floats and is deterministic: strategy 'chunked' has an order of its own}}
  qd.algo.exclusive_scan mul ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 strategy = "chunked" deterministic
  // expected-error @below {{combines floats and is deterministic: strategy 'hierarchical' has an order of its own}}
  qd.algo.reduce_by_key add ins(%k, %a : memref<?xi32>, memref<?xf32>) outs(%ko, %b, %m : memref<?xi32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 strategy = "hierarchical" deterministic
}
