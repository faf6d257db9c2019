// Bodies of any size are canonicalised; ops with regions, and redundant computations, only in bodies that are not deep.
// RUN: qd-opt %s --pass-pipeline='builtin.module(any(qd-clean{deepest=3}))' | FileCheck %s

// Without iterations of `canonicalize`, only ops without regions are canonicalised, in long bodies.
// RUN: qd-opt %s --pass-pipeline='builtin.module(any(qd-clean{longest=8 max-iterations=0}))' | FileCheck %s --check-prefix=LONG

// CHECK-LABEL: @shallow
// LONG-LABEL: @shallow
qd.grid.kernel @shallow(%a: memref<?xi32>, %g: index) {
  %false = arith.constant false
  %c0 = arith.constant 0 : i32
  // CHECK: qd.grid.phase "p"
  // CHECK-NEXT: %[[T:.*]] = qd.simt.block.thread_id
  // CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[T]]]
  // CHECK-NEXT: }
  // LONG: scf.if
  // LONG-NEXT: arith.addi
  qd.grid.phase "p" blocks(%g) threads(64) {
    %t = qd.simt.block.thread_id
    scf.if %false {
      %y = arith.addi %c0, %c0 : i32
      memref.store %y, %a[%t] : memref<?xi32>
    }
    memref.store %c0, %a[%t] : memref<?xi32>
  }
}

// CHECK-LABEL: @deep
qd.grid.kernel @deep(%a: memref<?xi32>, %c: i1, %g: index) {
  // Constants are at the top, once.
  // CHECK: %[[C5:.*]] = arith.constant 5 : i32
  // CHECK-NOT: arith.constant 5
  // CHECK: qd.grid.phase "p"
  qd.grid.phase "p" blocks(%g) threads(64) {
    // CHECK-NEXT: %[[T:.*]] = qd.simt.block.thread_id
    %t = qd.simt.block.thread_id
    // CHECK-NEXT: scf.if
    scf.if %c {
      // Dead ops are removed, and the operands that they alone used.
      // CHECK-NEXT: %[[X:.*]] = memref.load
      // CHECK-NEXT: %[[Y:.*]] = arith.muli %[[X]], %[[X]]
      // CHECK-NEXT: %[[Z:.*]] = arith.muli %[[X]], %[[X]]
      %c0 = arith.constant 0 : i32
      %five = arith.constant 5 : i32
      %x = memref.load %a[%t] : memref<?xi32>
      %dead = arith.addi %x, %five : i32
      %too = arith.xori %dead, %x : i32
      %y = arith.muli %x, %x : i32
      %z = arith.muli %x, %x : i32
      // CHECK-NEXT: scf.if
      scf.if %c {
        // CHECK-NEXT: %[[S:.*]] = arith.addi %[[Y]], %[[Z]]
        // CHECK-NEXT: %[[R:.*]] = arith.addi %[[S]], %[[C5]]
        // CHECK-NEXT: memref.store %[[R]], %{{.*}}[%[[T]]]
        // CHECK-NEXT: }
        %zero = arith.muli %y, %c0 : i32
        %also = arith.constant 2 : i32
        %three = arith.constant 3 : i32
        %sum = arith.addi %also, %three : i32
        %s = arith.addi %y, %z : i32
        %s0 = arith.addi %s, %zero : i32
        %r = arith.addi %s0, %sum : i32
        memref.store %r, %a[%t] : memref<?xi32>
      }
    }
  }
}

// LONG-LABEL: @long
qd.grid.kernel @long(%a: memref<?xi32>, %g: index) {
  %c0 = arith.constant 0 : i32
  // LONG: qd.grid.phase "p"
  // LONG-NEXT: %[[T:.*]] = qd.simt.block.thread_id
  // LONG-NEXT: %[[X:.*]] = memref.load
  // LONG-NEXT: memref.store %[[X]]
  // LONG-NEXT: }
  qd.grid.phase "p" blocks(%g) threads(64) {
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xi32>
    %0 = arith.addi %x, %c0 : i32
    %1 = arith.ori %0, %c0 : i32
    %2 = arith.xori %1, %c0 : i32
    %3 = arith.subi %2, %c0 : i32
    %4 = arith.addi %3, %c0 : i32
    %5 = arith.ori %4, %c0 : i32
    memref.store %5, %a[%t] : memref<?xi32>
  }
}
