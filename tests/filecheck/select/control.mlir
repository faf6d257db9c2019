// What decides on control flow around a collective is not expanded: nobody could tell that it is the same in all
// lanes. Elsewhere the same op is, where that is cheaper.

// RUN: qd-opt %s --to=plan | qd-opt --qd-select-lowering='target=cpu wave=4 costs=%S/Inputs/dear-reductions.json' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: qd-translate %t.mlir --target=cpu,wave=4 --emit=asm -o %t.s

// CHECK-COUNT-1: qd.simt.reduce_all maxsi
// CHECK-NOT:     qd.simt.reduce_all
qd.grid.kernel @k(%a: memref<?xi32>, %o: memref<?xi32>) {
  %blocks = arith.constant 1 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %r = scf.while (%work = %v) : (i32) -> i32 {
      %most = qd.simt.reduce_all maxsi %work : i32
      %go = arith.cmpi sgt, %most, %zero : i32
      scf.condition(%go) %work : i32
    } do {
    ^next(%left: i32):
      %less = arith.subi %left, %one : i32
      scf.yield %less : i32
    }
    %sum = qd.simt.reduce_all maxsi %r : i32
    memref.store %sum, %o[%t] : memref<?xi32>
  }
}
