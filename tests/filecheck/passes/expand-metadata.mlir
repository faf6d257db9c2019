// Views of memory become arithmetic on offsets; regions are simplified on the way where the body is not deep.
// RUN: qd-opt %s --qd-expand-metadata | FileCheck %s --check-prefixes=CHECK,SHALLOW
// RUN: qd-opt %s --qd-expand-metadata=widest=2 | FileCheck %s --check-prefixes=CHECK,DEEP
// RUN: qd-opt %s --qd-expand-metadata=deepest=1 | FileCheck %s --check-prefixes=CHECK,DEEP

// CHECK-LABEL: @view
func.func @view(%m: memref<64xi32>, %o: index, %c: i1) -> i32 {
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  // SHALLOW-NOT: ^bb{{.*}}(%{{.*}}: i32)
  // DEEP: ^bb1(%{{.*}}: i32)
  cf.cond_br %c, ^one(%zero : i32), ^two
^one(%unused: i32):
  // CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}, %{{.*}} = memref.extract_strided_metadata
  // CHECK: memref.reinterpret_cast %[[BASE]] to offset: [%arg1], sizes: [4], strides: [1]
  // CHECK-NOT: memref.subview
  %v = memref.subview %m[%o] [4] [1] : memref<64xi32> to memref<4xi32, strided<[1], offset: ?>>
  %x = memref.load %v[%one] : memref<4xi32, strided<[1], offset: ?>>
  return %x : i32
^two:
  return %zero : i32
}
