// Strategies whose blocks wait for each other (look-back, onesweep) are an error on a target
// without forward progress, where they could hang.

// RUN: qd-opt %s --qd-expand-algorithms=target=vulkan:1.3 --split-input-file --verify-diagnostics
// RUN: qd-opt %s --qd-expand-algorithms=target=nvptx:sm_90 --split-input-file | FileCheck %s
// RUN: qd-opt %s --qd-expand-algorithms --split-input-file | FileCheck %s

// CHECK: qd.grid.phase "exclusive_scan.sweep"
qd.grid.kernel @scan(%a: memref<?xi32>, %out: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error @below {{'qd.algo.exclusive_scan' op asks for a strategy whose blocks wait for each other: target 'vulkan:1.3' does not promise that those waited for go on}}
  qd.algo.exclusive_scan add ins(%a : memref<?xi32>) outs(%out : memref<?xi32>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 2 strategy = "lookback"
}

// -----

// CHECK: qd.grid.phase "select.sweep"
qd.grid.kernel @select(%a: memref<?xi32>, %f: memref<?xi32>, %out: memref<?xi32>, %k: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error @below {{'qd.algo.select' op asks for a strategy whose blocks wait for each other}}
  qd.algo.select ins(%a, %f : memref<?xi32>, memref<?xi32>) outs(%out, %k : memref<?xi32>, memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 strategy = "lookback"
}

// -----

// CHECK: qd.grid.phase "reduce_by_key.sweep"
qd.grid.kernel @reduce_by_key(%k: memref<?xi32>, %v: memref<?xi32>, %ok: memref<?xi32>, %ov: memref<?xi32>, %runs: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error @below {{'qd.algo.reduce_by_key' op asks for a strategy whose blocks wait for each other}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xi32>)
      outs(%ok, %ov, %runs : memref<?xi32>, memref<?xi32>, memref<1xi32>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 2 strategy = "lookback"
}

// -----

// CHECK: qd.grid.phase "sort.sweep0"
qd.grid.kernel @sort(%a: memref<?xi32>, %b: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error @below {{'qd.algo.sort' op asks for a strategy whose blocks wait for each other}}
  qd.algo.sort keys(%a, %b : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>)
      log256_max_n = 2 strategy = "onesweep"
}
