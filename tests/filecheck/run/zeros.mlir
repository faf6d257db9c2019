// Sums and quotients with a constant that is zero have the sign that IEEE says, and are NaN where they have to be.

// DEFINE: %{data} = -q --arg 'x=[-0.0, 0.0, nan, inf, -inf, 2, -2, 1e-40]' --arg 'add=zeros[8]' --arg 'sub=zeros[8]' \
// DEFINE:   --arg 'from=zeros[8]' --arg 'over=zeros[8]' --arg 'by=zeros[8]' --arg 'fma=zeros[8]' \
// DEFINE:   --print add --print sub --print from --print over --print by --print fma
// DEFINE: %{way} = --interpret
// DEFINE: %{run} = qd-run %s %{way} %{data} | FileCheck %s
// RUN: %{run}
// REDEFINE: %{way} = --target=cpu
// RUN: %{run}
// REDEFINE: %{way} = --target=vulkan:1.3
// RUN: %if vulkan %{ %{run} %}

// CHECK: add = [0, 0, NaN, inf, -inf, 2, -2, 0.{{0+}}1]
// CHECK-NEXT: sub = [0, 0, NaN, inf, -inf, 2, -2, 0.{{0+}}1]
// CHECK-NEXT: from = [0, 0, NaN, -inf, inf, -2, 2, -0.{{0+}}1]
// CHECK-NEXT: over = [NaN, NaN, NaN, 0, -0, 0, -0, 0]
// CHECK-NEXT: by = [NaN, NaN, NaN, inf, -inf, inf, -inf, inf]
// CHECK-NEXT: fma = [0, 0, NaN, NaN, NaN, 0, 0, 0]
qd.grid.kernel @with_zero(%x: memref<?xf32> {qd.name = "x"}, %o0: memref<?xf32> {qd.name = "add"},
                          %o1: memref<?xf32> {qd.name = "sub"}, %o2: memref<?xf32> {qd.name = "from"},
                          %o3: memref<?xf32> {qd.name = "over"}, %o4: memref<?xf32> {qd.name = "by"},
                          %o5: memref<?xf32> {qd.name = "fma"}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %minus_zero = arith.constant -0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  qd.grid.for_each %i to %n {
    %a = memref.load %x[%i] : memref<?xf32>
    %r0 = arith.addf %a, %zero : f32
    memref.store %r0, %o0[%i] : memref<?xf32>
    %r1 = arith.subf %a, %minus_zero : f32
    memref.store %r1, %o1[%i] : memref<?xf32>
    %r2 = arith.subf %zero, %a : f32
    memref.store %r2, %o2[%i] : memref<?xf32>
    %r3 = arith.divf %zero, %a : f32
    memref.store %r3, %o3[%i] : memref<?xf32>
    %r4 = arith.divf %a, %zero : f32
    memref.store %r4, %o4[%i] : memref<?xf32>
    %r5 = math.fma %a, %zero, %zero : f32
    memref.store %r5, %o5[%i] : memref<?xf32>
  }
}
