// A checked algorithm gets a phase before it, of one thread, which asserts what the algorithm takes for granted.
// RUN: qd-opt %s --qd-expand-algorithms | FileCheck %s
// RUN: qd-opt %s --to=grid --target=cpu,checked | FileCheck %s --check-prefix=ALL

// CHECK-LABEL: qd.grid.kernel @checked(
// CHECK:         %[[LIMIT:.*]] = arith.index_castui %{{.*}} : index to i32
// CHECK:         qd.grid.phase "checked" blocks(%{{.*}}) threads(1) {
// CHECK:           %[[N:.*]] = memref.load %arg3[]
// CHECK:           %[[POSITIVE:.*]] = arith.cmpi sge, %[[N]],
// CHECK:           cf.assert %[[POSITIVE]], "the count of 'qd.algo.reduce' is not negative"
// CHECK:           %[[WITHIN:.*]] = arith.cmpi sle, %[[N]], %[[LIMIT]] : i32
// CHECK:           cf.assert %[[WITHIN]], "the count of 'qd.algo.reduce' is within its capacity and its buffers"
// CHECK:           cf.assert %{{.*}}, "the scratch of 'qd.algo.reduce' is as long as its formula says"
// CHECK-NEXT:    }
qd.grid.kernel @checked(%a: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 checked
}

// Another is not, unless all are.
// CHECK-LABEL: qd.grid.kernel @other(
// CHECK-NOT:     cf.assert
// ALL-LABEL:   qd.grid.kernel @other(
// ALL:           cf.assert %{{.*}}, "the count of 'qd.algo.reduce' is not negative"
qd.grid.kernel @other(%a: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
}
