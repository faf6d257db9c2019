// Sums and products of twice the width: carries, and upper halves of signed and unsigned factors.

// DEFINE: %{data} = -q --print low --print high --print unsigned --print wide --print sum --print carry \
// DEFINE:   --arg 'x=[-2147483648, -1, 3, 2147483647]' --arg 'y=[-2147483648, -1, -5, 2]' \
// DEFINE:   --arg 'low=zeros[4]' --arg 'high=zeros[4]' --arg 'unsigned=zeros[4]' --arg 'wide=zeros[4]' \
// DEFINE:   --arg 'sum=zeros[4]' --arg 'carry=zeros[4]'
// DEFINE: %{way} = --interpret
// DEFINE: %{run} = qd-run %s %{way} %{data} | FileCheck %s
// RUN: %{run}
// REDEFINE: %{way} = --target=cpu
// RUN: %{run}
// REDEFINE: %{way} = --target=vulkan:1.3
// RUN: %if vulkan %{ %{run} %}

// CHECK: low = [0, 1, -15, -2]
// CHECK-NEXT: high = [1073741824, 0, -1, 0]
// CHECK-NEXT: unsigned = [1073741824, -2, 2, 0]
// CHECK-NEXT: wide = [4611686018427387904, 1, -15, 4294967294]
// CHECK-NEXT: sum = [0, -2, -2, -2147483647]
// CHECK-NEXT: carry = [1, 1, 0, 0]
qd.grid.kernel @multiply(%x: memref<?xi32> {qd.name = "x"}, %y: memref<?xi32> {qd.name = "y"},
                         %o0: memref<?xi32> {qd.name = "low"}, %o1: memref<?xi32> {qd.name = "high"},
                         %o2: memref<?xi32> {qd.name = "unsigned"}, %o3: memref<?xi64> {qd.name = "wide"},
                         %o4: memref<?xi32> {qd.name = "sum"}, %o5: memref<?xi32> {qd.name = "carry"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each %i to %n {
    %a = memref.load %x[%i] : memref<?xi32>
    %b = memref.load %y[%i] : memref<?xi32>
    %low, %high = arith.mulsi_extended %a, %b : i32
    memref.store %low, %o0[%i] : memref<?xi32>
    memref.store %high, %o1[%i] : memref<?xi32>
    %same, %unsigned = arith.mului_extended %a, %b : i32
    memref.store %unsigned, %o2[%i] : memref<?xi32>
    // Of the factors times 2^32, the upper half of 64 bits is the product.
    %half = arith.constant 32 : i64
    %c = arith.extsi %a : i32 to i64
    %d = arith.extsi %b : i32 to i64
    %e = arith.shli %c, %half : i64
    %f = arith.shli %d, %half : i64
    %none, %wide = arith.mulsi_extended %e, %f : i64
    memref.store %wide, %o3[%i] : memref<?xi64>
    %sum, %carry = arith.addui_extended %a, %b : i32, i1
    memref.store %sum, %o4[%i] : memref<?xi32>
    %one = arith.extui %carry : i1 to i32
    memref.store %one, %o5[%i] : memref<?xi32>
  }
}
