// A kernel two of whose arguments may overlap becomes a dispatch of two, one for calls in which none do.
// RUN: qd-opt %s --qd-split-aliases --split-input-file | FileCheck %s
// The second run finds nothing more to split.
// RUN: qd-opt %s --qd-split-aliases --qd-split-aliases --split-input-file | FileCheck %s

// CHECK-LABEL: qd.grid.kernel private @copy_disjoint(
// CHECK-SAME: %[[A:.*]]: memref<?xi32> {qd.name = "from"}, %{{.*}}: memref<4x?xf16>, %{{.*}}: memref<?xi32>)
// CHECK:   memref.load %[[A]][
// CHECK-LABEL: qd.grid.kernel private @copy_overlapping(
// CHECK-SAME: %[[A:.*]]: memref<?xi32> {qd.may_alias, qd.name = "from"}, %{{.*}}: memref<4x?xf16> {qd.may_alias}, %{{.*}}: memref<?xi32>)
// CHECK:   memref.load %[[A]][
// CHECK-LABEL: qd.grid.kernel @copy(
// CHECK-SAME: %[[A:.*]]: memref<?xi32> {qd.may_alias, qd.name = "from"}, %[[B:.*]]: memref<4x?xf16> {qd.may_alias}, %[[C:.*]]: memref<?xi32>)
// CHECK-NEXT: qd.grid.dispatch(%[[A]], %[[B]], %[[C]] : memref<?xi32>, memref<4x?xf16>, memref<?xi32>) {
// CHECK-NEXT:   qd.grid.variant @copy_disjoint when {
// CHECK-NEXT:     %[[BEGIN_A:.*]] = memref.extract_aligned_pointer_as_index %[[A]] : memref<?xi32> -> index
// CHECK:          %[[ROWS_A:.*]] = memref.dim %[[A]]
// CHECK:          %[[BYTES_A:.*]] = arith.muli %{{.*}}, %[[ROWS_A]] : index
// CHECK:          %[[END_A:.*]] = arith.addi %[[BEGIN_A]], %[[BYTES_A]] : index
// CHECK:          %[[BEGIN_B:.*]] = memref.extract_aligned_pointer_as_index %[[B]] : memref<4x?xf16> -> index
// CHECK-COUNT-2:  memref.dim %[[B]]
// CHECK:          %[[END_B:.*]] = arith.addi %[[BEGIN_B]], %{{.*}} : index
// CHECK:          %[[BEFORE:.*]] = arith.cmpi ule, %[[END_A]], %[[BEGIN_B]] : index
// CHECK:          %[[BEHIND:.*]] = arith.cmpi ule, %[[END_B]], %[[BEGIN_A]] : index
// CHECK:          %[[APART:.*]] = arith.ori %[[BEFORE]], %[[BEHIND]] : i1
// CHECK-NEXT:     qd.yield %[[APART]] : i1
// CHECK-NEXT:   }
// CHECK-NEXT:   qd.grid.variant @copy_overlapping
// CHECK-NEXT: }
qd.grid.kernel @copy(%a: memref<?xi32> {qd.may_alias, qd.name = "from"}, %b: memref<4x?xf16> {qd.may_alias}, %c: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each %i to %len {
    %x = memref.load %a[%i] : memref<?xi32>
    memref.store %x, %c[%i] : memref<?xi32>
  }
}

// -----

// Of three no two may share a byte. A name that is taken gets a number.
// CHECK: qd.grid.kernel private @three_disjoint_1(
// CHECK: qd.grid.kernel private @three_overlapping(
// CHECK-LABEL: qd.grid.kernel @three(
// CHECK-COUNT-6: arith.cmpi ule
// CHECK-NOT: arith.cmpi
// CHECK: qd.grid.variant @three_overlapping
// CHECK-LABEL: qd.grid.kernel @three_disjoint(
qd.grid.kernel @three(%a: memref<?xi32> {qd.may_alias}, %b: memref<?xi32> {qd.may_alias}, %c: memref<i32> {qd.may_alias}) {
  %c1 = arith.constant 1 : index
  qd.grid.for_each %i to %c1 {
    %x = memref.load %c[] : memref<i32>
    memref.store %x, %a[%i] : memref<?xi32>
    memref.store %x, %b[%i] : memref<?xi32>
  }
}
qd.grid.kernel @three_disjoint(%a: memref<?xi32>) {
}

// -----

// One that may overlap has nothing to overlap with. What a dispatch runs was chosen already.
// CHECK-NOT: _disjoint
// CHECK-LABEL: qd.grid.kernel @alone(
// CHECK-LABEL: qd.grid.kernel private @chosen(
// CHECK-LABEL: qd.grid.kernel @dispatching(
qd.grid.kernel @alone(%a: memref<?xi32> {qd.may_alias}, %b: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.for_each %i to %c1 {
    %x = memref.load %a[%i] : memref<?xi32>
    memref.store %x, %b[%i] : memref<?xi32>
  }
}
qd.grid.kernel private @chosen(%a: memref<?xi32> {qd.may_alias}, %b: memref<?xi32> {qd.may_alias}) {
  %c1 = arith.constant 1 : index
  qd.grid.for_each %i to %c1 {
    %x = memref.load %a[%i] : memref<?xi32>
    memref.store %x, %b[%i] : memref<?xi32>
  }
}
qd.grid.kernel @dispatching(%a: memref<?xi32> {qd.may_alias}, %b: memref<?xi32> {qd.may_alias}) {
  qd.grid.dispatch(%a, %b : memref<?xi32>, memref<?xi32>) {
    qd.grid.variant @chosen
  }
}
