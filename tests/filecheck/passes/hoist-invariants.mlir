// Loop-invariant ops leave their loop; ops with regions do so only where the loop is not deep.
// RUN: qd-opt %s --qd-hoist-invariants=deepest=1 | FileCheck %s

// CHECK-LABEL: func.func @shallow
func.func @shallow(%a: memref<?xi32>, %x: i32, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: arith.addi
  // CHECK: scf.if
  // CHECK: scf.for
  // CHECK-NOT: scf.if
  scf.for %i = %c0 to %n step %c1 {
    %y = arith.addi %x, %x : i32
    %z = scf.if %p -> i32 {
      scf.yield %y : i32
    } else {
      scf.yield %x : i32
    }
    memref.store %z, %a[%i] : memref<?xi32>
  }
  return
}

// The branch holds one level more.
// CHECK-LABEL: func.func @deep
func.func @deep(%a: memref<?xi32>, %x: i32, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: arith.addi
  // CHECK: scf.for
  // CHECK: scf.if
  scf.for %i = %c0 to %n step %c1 {
    %y = arith.addi %x, %x : i32
    %z = scf.if %p -> i32 {
      %w = scf.if %p -> i32 {
        scf.yield %y : i32
      } else {
        scf.yield %x : i32
      }
      scf.yield %w : i32
    } else {
      scf.yield %x : i32
    }
    memref.store %z, %a[%i] : memref<?xi32>
  }
  return
}

// What depends on the iteration stays, and so does what has an effect.
// CHECK-LABEL: func.func @stays
func.func @stays(%a: memref<?xi32>, %x: i32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  // CHECK: memref.store
  // CHECK: arith.index_cast
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %a[%c0] : memref<?xi32>
    %y = arith.index_cast %i : index to i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
  return
}
