// Canonical forms are applied to what has no regions, in phases, loops and branches that are long, and nowhere else.
// RUN: qd-opt %s --qd-canonicalize-long=longest=4 | FileCheck %s

// CHECK-LABEL: @long
qd.grid.kernel @long(%a: memref<?xi32>, %g: index) {
  %c0 = arith.constant 0 : i32
  // CHECK: qd.grid.phase "p"
  // CHECK-NEXT: %[[T:.*]] = qd.simt.block.thread_id
  // CHECK-NEXT: %[[X:.*]] = memref.load
  // CHECK-NEXT: memref.store %[[X]]
  // CHECK-NEXT: }
  qd.grid.phase "p" blocks(%g) threads(64) {
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xi32>
    %y = arith.addi %x, %c0 : i32
    %z = arith.ori %y, %c0 : i32
    memref.store %z, %a[%t] : memref<?xi32>
  }
}

// What has regions is left to `canonicalize`: a branch that is never taken stays.
// CHECK-LABEL: @branch
qd.grid.kernel @branch(%a: memref<?xi32>, %g: index) {
  %false = arith.constant false
  %c0 = arith.constant 0 : i32
  // CHECK: scf.if
  // CHECK-NOT: arith.addi
  qd.grid.phase "p" blocks(%g) threads(64) {
    %t = qd.simt.block.thread_id
    scf.if %false {
      %x = memref.load %a[%t] : memref<?xi32>
      %y = arith.addi %x, %c0 : i32
      memref.store %y, %a[%t] : memref<?xi32>
    }
  }
}

// CHECK-LABEL: @short
qd.grid.kernel @short(%a: memref<?xi32>, %g: index) {
  %c0 = arith.constant 0 : i32
  // CHECK: arith.addi
  qd.grid.phase "p" blocks(%g) threads(64) {
    %t = qd.simt.block.thread_id
    %y = arith.addi %c0, %c0 : i32
    memref.store %y, %a[%t] : memref<?xi32>
  }
}
