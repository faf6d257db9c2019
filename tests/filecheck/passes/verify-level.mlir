// An op that an earlier level should have lowered is an error, with the pass that
// removes it; legal ops are accepted.

// RUN: split-file %s %t
// RUN: qd-opt %t/grid.mlir --qd-verify-level=level=grid
// RUN: not qd-opt %t/grid.mlir --qd-verify-level=level=plan 2>&1 | FileCheck %s --check-prefix=GRID-AT-PLAN
// RUN: qd-opt %t/plan.mlir --qd-verify-level=level=grid --qd-verify-level=level=plan
// RUN: not qd-opt %t/plan.mlir --qd-verify-level=level=subgroup 2>&1 | FileCheck %s --check-prefix=PLAN-AT-SUBGROUP
// RUN: qd-opt %t/subgroup.mlir --qd-verify-level=level=plan --qd-verify-level=level=subgroup
// RUN: not qd-opt %t/subgroup.mlir --qd-verify-level="level=subgroup expanded=true" 2>&1 | FileCheck %s --check-prefix=EXPANDED
// RUN: qd-opt %t/subgroup.mlir --qd-expand-collectives --qd-verify-level="level=subgroup expanded=true"
// RUN: qd-opt %t/algo.mlir --qd-verify-level=level=algo
// RUN: not qd-opt %t/algo.mlir --qd-verify-level=level=grid 2>&1 | FileCheck %s --check-prefix=ALGO
// RUN: not qd-opt %t/polymorphic.mlir --qd-verify-level=level=subgroup 2>&1 | FileCheck %s --check-prefix=POLYMORPHIC
// RUN: not qd-opt %t/grid.mlir --qd-verify-level=level=ground 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: option 'level': cannot read 'ground': expected algo, grid, plan or subgroup

//--- algo.mlir
// ALGO: error: 'qd.algo.reduce' op does not belong at level 'grid': 'qd-expand-algorithms' removes it
qd.grid.kernel @k(%a: memref<?xf32>, %out: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

//--- grid.mlir
// GRID-AT-PLAN-DAG: error: 'qd.grid.for_each' op does not belong at level 'plan': 'qd-expand-for-each' removes it
// GRID-AT-PLAN-DAG: error: 'qd.grid.phase' op does not belong at level 'plan': 'qd-plan-launches' removes it
qd.grid.kernel @k(%g: index, %v: i32) {
  qd.grid.for_each %i to %g {
  }
  qd.grid.phase blocks(%g) threads(64) {
    %0 = qd.simt.reduce_all add %v : i32
  }
}

//--- plan.mlir
// PLAN-AT-SUBGROUP: error: 'func.func' op has no 'qd.wave' at level 'subgroup': 'qd-select-subgroup-size' sets it
func.func private @body(%v: i32) attributes {qd.threads = 64 : i64} {
  %0 = qd.simt.reduce_all add %v : i32
  return
}
qd.grid.kernel @k(%g: index, %v: i32) {
  qd.grid.launch 0 @body blocks(%g) args(%v : i32)
}

//--- subgroup.mlir
// EXPANDED: error: 'qd.simt.reduce_all' op does not belong at level 'subgroup': 'qd-expand-collectives' removes it
module {
  func.func private @body(%v: i32) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %0 = qd.simt.reduce_all add %v tile(5) : i32
    return
  }
}

//--- polymorphic.mlir
// POLYMORPHIC-DAG: error: 'qd.simt.subgroup_size' op does not belong at level 'subgroup': 'qd-select-subgroup-size' removes it
// POLYMORPHIC-DAG: error: 'qd.simt.block.dim' op does not belong at level 'subgroup': 'qd-select-subgroup-size' removes it
// POLYMORPHIC-DAG: error: 'qd.simt.any' op does not belong at level 'subgroup': 'qd-select-subgroup-size' removes it
module {
  func.func private @body(%p: i1) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %0 = qd.simt.subgroup_size
    %1 = qd.simt.block.dim
    %2 = qd.simt.any %p
    return
  }
}
