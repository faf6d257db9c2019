// Structs by key: each size that a tile of the look-back holds has a tuning, and those that are larger are swept in levels.

// RUN: split-file %s %t
// RUN: qd-opt %t/structs.mlir --qd-expand-algorithms=target=nvptx:sm_90 | FileCheck %s
// RUN: qd-opt %t/structs.mlir --qd-expand-algorithms=target=amdgpu:gfx1100 | FileCheck %s
// RUN: qd-opt %t/structs.mlir --qd-expand-algorithms=target=amdgpu:gfx942 | FileCheck %s
// RUN: not qd-opt %t/asked.mlir --qd-expand-algorithms=target=nvptx:sm_90 2>&1 | FileCheck %s --check-prefix=ASKED

// CHECK-LABEL: qd.grid.kernel @of_24_bytes(
// CHECK:         qd.grid.phase "reduce_by_key.sweep"
// CHECK-LABEL: qd.grid.kernel @of_32_bytes(
// CHECK:         qd.grid.phase "reduce_by_key.sweep"
// CHECK-LABEL: qd.grid.kernel @of_40_bytes(
// CHECK-NOT:     qd.grid.phase "reduce_by_key.sweep"
// CHECK:         qd.grid.phase "reduce_by_key.top"
// In an order that is said, too.
// CHECK-LABEL: qd.grid.kernel @in_order(
// CHECK-NOT:     qd.grid.phase "reduce_by_key.sweep"
// CHECK:         qd.grid.phase "reduce_by_key.top"

// ASKED: asked.mlir:2:3: error: 'qd.algo.reduce_by_key' op has no tiles for elements of 40 bytes

//--- structs.mlir
qd.grid.kernel @of_24_bytes(%k: memref<?xi64>, %v0: memref<?xi64>, %v1: memref<?xi64>, %ko: memref<?xi64>, %o0: memref<?xi64>, %o1: memref<?xi64>, %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce_by_key ins(%k, %v0, %v1 : memref<?xi64>, memref<?xi64>, memref<?xi64>)
      outs(%ko, %o0, %o1, %m : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 identity [0, 0] combiner {
  ^bb0(%l0: i64, %l1: i64, %r0: i64, %r1: i64):
    %s0 = arith.addi %l0, %r0 : i64
    %s1 = arith.addi %l1, %r1 : i64
    qd.yield %s0, %s1 : i64, i64
  }
}

qd.grid.kernel @of_32_bytes(%k: memref<?xi64>, %v0: memref<?xi64>, %v1: memref<?xi64>, %v2: memref<?xi64>, %ko: memref<?xi64>, %o0: memref<?xi64>, %o1: memref<?xi64>, %o2: memref<?xi64>, %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce_by_key ins(%k, %v0, %v1, %v2 : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>)
      outs(%ko, %o0, %o1, %o2, %m : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 identity [0, 0, 0] combiner {
  ^bb0(%l0: i64, %l1: i64, %l2: i64, %r0: i64, %r1: i64, %r2: i64):
    %s0 = arith.addi %l0, %r0 : i64
    %s1 = arith.addi %l1, %r1 : i64
    %s2 = arith.addi %l2, %r2 : i64
    qd.yield %s0, %s1, %s2 : i64, i64, i64
  }
}

qd.grid.kernel @of_40_bytes(%k: memref<?xi64>, %v0: memref<?xi64>, %v1: memref<?xi64>, %v2: memref<?xi64>, %v3: memref<?xi64>, %ko: memref<?xi64>, %o0: memref<?xi64>, %o1: memref<?xi64>, %o2: memref<?xi64>, %o3: memref<?xi64>, %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce_by_key ins(%k, %v0, %v1, %v2, %v3 : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>)
      outs(%ko, %o0, %o1, %o2, %o3, %m : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 identity [0, 0, 0, 0] combiner {
  ^bb0(%l0: i64, %l1: i64, %l2: i64, %l3: i64, %r0: i64, %r1: i64, %r2: i64, %r3: i64):
    %s0 = arith.addi %l0, %r0 : i64
    %s1 = arith.addi %l1, %r1 : i64
    %s2 = arith.addi %l2, %r2 : i64
    %s3 = arith.addi %l3, %r3 : i64
    qd.yield %s0, %s1, %s2, %s3 : i64, i64, i64, i64
  }
}

qd.grid.kernel @in_order(%k: memref<?xi64>, %v0: memref<?xf64>, %v1: memref<?xi64>, %v2: memref<?xi64>, %v3: memref<?xi64>, %ko: memref<?xi64>, %o0: memref<?xf64>, %o1: memref<?xi64>, %o2: memref<?xi64>, %o3: memref<?xi64>, %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce_by_key ins(%k, %v0, %v1, %v2, %v3 : memref<?xi64>, memref<?xf64>, memref<?xi64>, memref<?xi64>, memref<?xi64>)
      outs(%ko, %o0, %o1, %o2, %o3, %m : memref<?xi64>, memref<?xf64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 deterministic identity [0.0 : f64, 0, 0, 0] combiner {
  ^bb0(%l0: f64, %l1: i64, %l2: i64, %l3: i64, %r0: f64, %r1: i64, %r2: i64, %r3: i64):
    %s0 = arith.addf %l0, %r0 : f64
    %s1 = arith.addi %l1, %r1 : i64
    %s2 = arith.addi %l2, %r2 : i64
    %s3 = arith.addi %l3, %r3 : i64
    qd.yield %s0, %s1, %s2, %s3 : f64, i64, i64, i64
  }
}

//--- asked.mlir
qd.grid.kernel @asked(%k: memref<?xi64>, %v0: memref<?xi64>, %v1: memref<?xi64>, %v2: memref<?xi64>, %v3: memref<?xi64>, %ko: memref<?xi64>, %o0: memref<?xi64>, %o1: memref<?xi64>, %o2: memref<?xi64>, %o3: memref<?xi64>, %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce_by_key ins(%k, %v0, %v1, %v2, %v3 : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>)
      outs(%ko, %o0, %o1, %o2, %o3, %m : memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 strategy = "lookback" identity [0, 0, 0, 0] combiner {
  ^bb0(%l0: i64, %l1: i64, %l2: i64, %l3: i64, %r0: i64, %r1: i64, %r2: i64, %r3: i64):
    %s0 = arith.addi %l0, %r0 : i64
    %s1 = arith.addi %l1, %r1 : i64
    %s2 = arith.addi %l2, %r2 : i64
    %s3 = arith.addi %l3, %r3 : i64
    qd.yield %s0, %s1, %s2, %s3 : i64, i64, i64, i64
  }
}
