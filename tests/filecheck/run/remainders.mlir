// Quotients and remainders of negative numbers, the smallest among them, have the signs that arith says.

// DEFINE: %{data} = -q --print remsi --print rems --print divsi --print floordivsi --print ceildivsi \
// DEFINE:   --arg 'x=[-2147483648, -2147483648, -2147483648, 7, -7, 7, -7, 6]' \
// DEFINE:   --arg 'y=[3, -2147483648, 2147483647, -2147483648, 3, -3, -3, -3]' \
// DEFINE:   --arg 'remsi=zeros[8]' --arg 'rems=zeros[8]' --arg 'divsi=zeros[8]' --arg 'floordivsi=zeros[8]' \
// DEFINE:   --arg 'ceildivsi=zeros[8]'
// DEFINE: %{way} = --interpret
// DEFINE: %{run} = qd-run %s %{way} %{data} | FileCheck %s
// RUN: %{run}
// REDEFINE: %{way} = --target=cpu
// RUN: %{run}
// REDEFINE: %{way} = --target=vulkan:1.3
// RUN: %if vulkan %{ %{run} %}

// CHECK: remsi = [-2, 0, -1, 7, -1, 1, -1, 0]
// CHECK-NEXT: rems = [-2, 0, -1, 7, -1, 1, -1, 0]
// CHECK-NEXT: divsi = [-715827882, 1, -1, 0, -2, -2, 2, -2]
// CHECK-NEXT: floordivsi = [-715827883, 1, -2, -1, -3, -3, 2, -2]
// CHECK-NEXT: ceildivsi = [-715827882, 1, -1, 0, -2, -2, 3, -2]
qd.grid.kernel @divide(%x: memref<?xi32> {qd.name = "x"}, %y: memref<?xi32> {qd.name = "y"},
                       %o0: memref<?xi32> {qd.name = "remsi"}, %o1: memref<?xi64> {qd.name = "rems"},
                       %o2: memref<?xi32> {qd.name = "divsi"}, %o3: memref<?xi32> {qd.name = "floordivsi"},
                       %o4: memref<?xi32> {qd.name = "ceildivsi"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each %i to %n {
    %a = memref.load %x[%i] : memref<?xi32>
    %b = memref.load %y[%i] : memref<?xi32>
    %r0 = arith.remsi %a, %b : i32
    memref.store %r0, %o0[%i] : memref<?xi32>
    %wide_a = arith.index_cast %a : i32 to index
    %wide_b = arith.index_cast %b : i32 to index
    %rest = index.rems %wide_a, %wide_b
    %r1 = arith.index_cast %rest : index to i64
    memref.store %r1, %o1[%i] : memref<?xi64>
    %r2 = arith.divsi %a, %b : i32
    memref.store %r2, %o2[%i] : memref<?xi32>
    %r3 = arith.floordivsi %a, %b : i32
    memref.store %r3, %o3[%i] : memref<?xi32>
    %r4 = arith.ceildivsi %a, %b : i32
    memref.store %r4, %o4[%i] : memref<?xi32>
  }
}
