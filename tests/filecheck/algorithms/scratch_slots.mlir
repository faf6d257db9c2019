// The sizing op becomes arithmetic on the host, in a phase and in a function.
// Of a constant count it folds, which is not this pass's business.

// RUN: qd-opt %s --qd-expand-algorithms | FileCheck %s
// RUN: qd-opt %s --qd-expand-algorithms --canonicalize | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: func.func @reduce
// CHECK-SAME:    %[[N:.*]]: index
// CHECK:         %[[SUM:.*]] = arith.addi %[[N]], %{{.*}} : index
// CHECK:         arith.divui %[[SUM]]
// CHECK:         %[[SLOTS:.*]] = arith.maxui
// CHECK:         return %[[SLOTS]]
func.func @reduce(%n: index) -> index {
  %s = qd.algo.scratch_slots reduce %n, 2
  return %s : index
}

// CHECK-LABEL: func.func @by_key
// CHECK:         arith.cmpi ule
// CHECK:         arith.select
// CHECK-NOT:     qd.algo
func.func @by_key(%n: index) -> index {
  %s = qd.algo.scratch_slots reduce_by_key %n, 3
  return %s : index
}

// FOLDED-LABEL: func.func @constant
// FOLDED-NEXT:    %[[C:.*]] = arith.constant 1004115 : index
// FOLDED-NEXT:    return %[[C]]
func.func @constant() -> index {
  %n = arith.constant 1000000 : index
  %s = qd.algo.scratch_slots sort %n, 3
  return %s : index
}

// Without a capacity as at the largest: 3907 + 16 + 1.
// FOLDED-LABEL: func.func @any_capacity
// FOLDED-NEXT:    %[[C:.*]] = arith.constant 3924 : index
// FOLDED-NEXT:    return %[[C]]
func.func @any_capacity() -> index {
  %n = arith.constant 1000000 : index
  %s = qd.algo.scratch_slots reduce %n
  return %s : index
}

// CHECK-LABEL: qd.grid.kernel @checks_itself
// CHECK-NOT:     qd.algo
qd.grid.kernel @checks_itself(%s: memref<?xi32>, %n: memref<i32>, %short: memref<i32>) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %most = qd.algo.scratch_slots select %c1, 1
  qd.grid.phase "check" blocks(%c1) threads(64) {
    %live = memref.load %n[] : memref<i32>
    %i = arith.index_castui %live : i32 to index
    %needed = qd.algo.scratch_slots select %i, 3
    %d = memref.dim %s, %c0 : memref<?xi32>
    %is_short = arith.cmpi ult, %d, %needed : index
    scf.if %is_short {
      %word = arith.extui %is_short : i1 to i32
      memref.store %word, %short[] : memref<i32>
    }
  }
}
