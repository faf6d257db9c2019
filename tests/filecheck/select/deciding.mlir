// Control around collectives has to be seen to be the same in a subgroup. A term that is so, but not seen to be, takes the place
// of an op only where no such control depends on it.
// RUN: qd-opt %s --to=subgroup --target=cpu,wave=4 -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: qd-opt %t --qd-verify-convergence -o /dev/null

// CHECK-LABEL: func.func private @branch_
// CHECK:         %[[EQUAL:.*]] = qd.simt.all_equal
// CHECK:         scf.if %[[EQUAL]]
qd.grid.kernel @branch(%a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    %i = qd.simt.block.thread_id
    %v = memref.load %a[%i] : memref<?xi32>
    %equal = qd.simt.all_equal %v : i32
    %r = scf.if %equal -> i32 {
      %sum = qd.simt.reduce_all add %v : i32
      scf.yield %sum : i32
    } else {
      scf.yield %v : i32
    }
    memref.store %r, %a[%i] : memref<?xi32>
  }
}

// CHECK-LABEL: func.func private @value_
// CHECK:         %[[FIRST:.*]] = qd.simt.broadcast_first
// CHECK-NEXT:    %[[SAME:.*]] = arith.cmpi eq, %{{.*}}, %[[FIRST]]
// CHECK-NEXT:    qd.simt.all %[[SAME]]
qd.grid.kernel @value(%a: memref<?xi32>, %o: memref<?xi1>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    %i = qd.simt.block.thread_id
    %v = memref.load %a[%i] : memref<?xi32>
    %equal = qd.simt.all_equal %v : i32
    memref.store %equal, %o[%i] : memref<?xi1>
  }
}
