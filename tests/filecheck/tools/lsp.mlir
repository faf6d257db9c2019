// An editor gets diagnostics, hover and go-to-definition for our ops: Inputs/lsp.py opens this file, and a copy with a tile that is too
// wide, and asks at the marks.
// RUN: %python %S/Inputs/lsp.py %s | FileCheck %s --match-full-lines

// CHECK:      hoverProvider True
// CHECK-NEXT: definitionProvider True
// CHECK-NEXT: referencesProvider True
// CHECK-NEXT: diagnostic [[#@LINE+7]]:12 'qd.simt.reduce_all' op attribute 'tile' failed to satisfy constraint: log2 of the cluster size, an i32 from 0 to 6 (64 lanes)
// CHECK-NEXT: diagnostics 0

qd.grid.kernel @scale(%a: memref<?xi32>, %blocks: index) {
  qd.grid.phase "scale" blocks(%blocks) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %sum = qd.simt.reduce_all add %v tile(3) : i32
    // CHECK-NEXT: hover [[#@LINE-1]]:22
    // CHECK-NEXT: "qd.simt.reduce_all"
    // CHECK:      %2 = "qd.simt.reduce_all"(%1) <{kind = #qd.kind<add>, tile = 3 : i32}> ({...}) : (i32) -> i32
    //               ^hover
    // CHECK:      hover [[#@LINE-5]]:36
    // CHECK-NEXT: Operation: "memref.load"
    // CHECK:      Type: `i32`
    //                             ^hover
    // CHECK:      definition [[#@LINE-9]]:36
    // CHECK-NEXT: at [[#@LINE-11]]:5
    //                             ^definition
    memref.store %sum, %a[%t] : memref<?xi32>
    // CHECK-NEXT: definition [[#@LINE-1]]:19
    // CHECK-NEXT: at [[#@LINE-14]]:5
    //            ^definition
  }
}

qd.grid.kernel @choose(%a: memref<?xi32>, %blocks: index) {
  qd.grid.dispatch(%a, %blocks : memref<?xi32>, index) {
    qd.grid.variant @scale
    // CHECK-NEXT: definition [[#@LINE-1]]:24
    // CHECK-NEXT: at [[#@LINE-27]]:1
    //                 ^definition
  }
}

// CHECK-NEXT: exit 0
