// Views that the host makes, and arguments of several dynamic extents, become parts of flat buffers and index
// arithmetic; steps that take buffers whole get the part itself.
// RUN: qd-opt %s --qd-expand-views | FileCheck %s

// A subview of one dimension is a part of the buffer, and so is one of that in a body.
// CHECK-LABEL: qd.grid.kernel @part(
// CHECK-SAME:    %[[A:.*]]: memref<?xi32>, %[[N:.*]]: memref<i32>, %[[FROM:.*]]: index, %[[SIZE:.*]]: index)
// CHECK:         %[[PART:.*]] = qd.grid.view %[[A]][%[[FROM]]] [%[[SIZE]]] : memref<?xi32> to memref<?xi32>
// CHECK:         qd.grid.for_each %[[I:.*]] to %[[SIZE]] {
// CHECK:           memref.load %[[PART]][%[[I]]] : memref<?xi32>
// CHECK:           %[[AT:.*]] = arith.addi %[[I]], %{{.*}} : index
// CHECK:           memref.store %{{.*}}, %[[PART]][%[[AT]]] : memref<?xi32>
qd.grid.kernel @part(%a: memref<?xi32>, %n: memref<i32>, %from: index, %size: index) {
  %part = memref.subview %a[%from] [%size] [1] : memref<?xi32> to memref<?xi32, strided<[1], offset: ?>>
  qd.grid.for_each %i to %size {
    %c1 = arith.constant 1 : index
    %x = memref.load %part[%i] : memref<?xi32, strided<[1], offset: ?>>
    %rest = memref.subview %part[%i] [2] [1]
        : memref<?xi32, strided<[1], offset: ?>> to memref<2xi32, strided<[1], offset: ?>>
    memref.store %x, %rest[%c1] : memref<2xi32, strided<[1], offset: ?>>
  }
}

// Extents that the host knows reach the body as numbers.
// CHECK-LABEL: qd.grid.kernel @table(
// CHECK-SAME:    %[[T:.*]]: memref<?x?xf32>, %[[I:.*]]: index)
// CHECK-DAG:     %[[ROWS:.*]] = memref.dim %[[T]], %c0
// CHECK-DAG:     %[[COLUMNS:.*]] = memref.dim %[[T]], %c1
// CHECK:         %[[ALL:.*]] = arith.muli %[[ROWS]], %[[COLUMNS]] : index
// CHECK:         %[[FLAT:.*]] = qd.grid.view %[[T]][%{{.*}}] [%[[ALL]]] : memref<?x?xf32> to memref<?xf32>
// CHECK:         qd.grid.for_each %[[J:.*]] to %[[COLUMNS]] {
// CHECK:           %[[ROW:.*]] = arith.muli %[[I]], %[[COLUMNS]] : index
// CHECK:           %[[AT:.*]] = arith.addi %[[ROW]], %[[J]] : index
// CHECK:           memref.load %[[FLAT]][%[[AT]]] : memref<?xf32>
// CHECK-NOT:       memref<?x?xf32>
qd.grid.kernel @table(%t: memref<?x?xf32>, %i: index) {
  %c1 = arith.constant 1 : index
  %columns = memref.dim %t, %c1 : memref<?x?xf32>
  qd.grid.for_each %j to %columns {
    %x = memref.load %t[%i, %j] : memref<?x?xf32>
    memref.store %x, %t[%i, %j] : memref<?x?xf32>
  }
}

// What takes a buffer whole gets one of rank 0 or 1 without a layout. Of one element the stride does not matter.
// CHECK-LABEL: qd.grid.kernel @whole(
// CHECK-SAME:    %[[A:.*]]: memref<?x4xi32>, %[[OUT:.*]]: memref<?xi32>, %[[I:.*]]: index,
// CHECK:         %[[ROW:.*]] = qd.grid.view %{{.*}}[%{{.*}}] [%{{.*}}] : memref<?xi32> to memref<4xi32>
// CHECK:         %[[SUM:.*]] = qd.grid.view %[[OUT]][%[[I]]] [%{{.*}}] : memref<?xi32> to memref<1xi32>
// CHECK:         qd.algo.reduce add ins(%[[ROW]] : memref<4xi32>) outs(%[[SUM]] : memref<1xi32>)
qd.grid.kernel @whole(%a: memref<?x4xi32>, %out: memref<?xi32>, %i: index, %s: memref<?xi32>, %n: memref<i32>) {
  %row = memref.subview %a[%i, 0] [1, 4] [1, 1]
      : memref<?x4xi32> to memref<4xi32, strided<[1], offset: ?>>
  %sum = memref.subview %out[%i] [1] [2] : memref<?xi32> to memref<1xi32, strided<[2], offset: ?>>
  qd.algo.reduce add ins(%row : memref<4xi32, strided<[1], offset: ?>>)
      outs(%sum : memref<1xi32, strided<[2], offset: ?>>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// A step takes an argument of rows as it is, also where another takes the argument's scalars.
// CHECK-LABEL: qd.grid.kernel @rows(
// CHECK-SAME:    %[[A:.*]]: memref<?x3xi32>, %[[B:.*]]: memref<?x3xi32>,
// CHECK:         %[[FLAT:.*]] = qd.grid.view %[[B]][%{{.*}}] [%{{.*}}] : memref<?x3xi32> to memref<?xi32>
// CHECK:         qd.algo.select ins(%[[A]], %{{.*}} outs(%[[B]], %{{.*}} : memref<?x3xi32>, memref<i32>)
// CHECK:         %[[ALL:.*]] = qd.grid.view %[[FLAT]][%{{.*}}] [%{{.*}}] : memref<?xi32> to memref<?xi32>
// CHECK:         qd.algo.reduce add ins(%[[ALL]] : memref<?xi32>)
qd.grid.kernel @rows(%a: memref<?x3xi32>, %b: memref<?x3xi32>, %f: memref<?xi32>, %m: memref<i32>, %s: memref<?xi32>,
    %n: memref<i32>, %out: memref<1xi32>, %scalars: memref<i32>) {
  qd.algo.select ins(%a, %f : memref<?x3xi32>, memref<?xi32>) outs(%b, %m : memref<?x3xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  %flat = memref.collapse_shape %b [[0, 1]] : memref<?x3xi32> into memref<?xi32>
  qd.algo.reduce add ins(%flat : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%scalars : memref<i32>) log256_max_n = 2
}

// So are rows of a part, with as many as it has.
// CHECK-LABEL: qd.grid.kernel @part_of_rows(
// CHECK-SAME:    %[[A:.*]]: memref<?x3xi32>, %{{.*}} %[[FROM:.*]]: index, %[[SIZE:.*]]: index,
// CHECK:         %[[FLAT:.*]] = qd.grid.view %[[A]][%{{.*}}] [%{{.*}}] : memref<?x3xi32> to memref<?xi32>
// CHECK:         %[[START:.*]] = arith.muli %[[FROM]], %{{.*}} : index
// CHECK:         %[[PART:.*]] = qd.grid.view %[[FLAT]][%[[START]]] [%[[SIZE]]] : memref<?xi32> to memref<?x3xi32>
// CHECK:         qd.algo.select ins(%[[PART]], %{{.*}} : memref<?x3xi32>, memref<?xi32>)
qd.grid.kernel @part_of_rows(%a: memref<?x3xi32>, %o: memref<?x3xi32>, %from: index, %size: index, %f: memref<?xi32>,
    %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  %part = memref.subview %a[%from, 0] [%size, 3] [1, 1] : memref<?x3xi32> to memref<?x3xi32, strided<[3, 1], offset: ?>>
  qd.algo.select ins(%part, %f : memref<?x3xi32, strided<[3, 1], offset: ?>>, memref<?xi32>)
      outs(%o, %m : memref<?x3xi32>, memref<i32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
}

// A kernel is dispatched to with arguments as they are.
// CHECK-LABEL: qd.grid.kernel @dispatched(
// CHECK-SAME:    %[[T:.*]]: memref<?x?xf32>,
// CHECK:         qd.grid.dispatch(%[[T]], %{{.*}} : memref<?x?xf32>, index)
qd.grid.kernel @dispatched(%t: memref<?x?xf32>, %i: index) {
  qd.grid.dispatch(%t, %i : memref<?x?xf32>, index) {
    qd.grid.variant @table
  }
}
