// A loop without iterations yields its initial values.

// RUN: qd-opt %s --qd-convert-to-spirv | FileCheck %s

module {

// CHECK-LABEL: func.func @sum(
// CHECK:         %[[SUM:[^ ]+]] = scf.for %{{[^ ]+}} = %[[LOWER:[^ ]+]] to %[[UPPER:[^ ]+]] step {{.*}} iter_args(%{{[^ ]+}} = %[[GIVEN:[0-9]+]])
// CHECK:         %[[ANY:.*]] = arith.cmpi slt, %[[LOWER]], %[[UPPER]]
// CHECK:         %[[YIELDED:.*]] = arith.select %[[ANY]], %[[SUM]], %[[GIVEN]]
// CHECK:         spirv.Store "PhysicalStorageBuffer" %{{.*}}, %[[YIELDED]]
func.func private @sum(%a: memref<?xi32>, %n: index, %given: i32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %given) -> (i32) {
    %v = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %v : i32
    scf.yield %y : i32
  }
  memref.store %sum, %a[%c0] : memref<?xi32>
  return
}

// One that is known to make one is left as it is.
// CHECK-LABEL: func.func @known(
// CHECK:         scf.for
// CHECK-NOT:     arith.select
// CHECK:         return
func.func private @known(%a: memref<?xi32>, %given: i32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %given) -> (i32) {
    %v = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %v : i32
    scf.yield %y : i32
  }
  memref.store %sum, %a[%c0] : memref<?xi32>
  return
}

}
