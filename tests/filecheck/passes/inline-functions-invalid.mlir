// A call that cannot be inlined is an error at the call: recursion, with the calls that close the cycle; functions without a body;
// unstructured control flow; ops that a `for_each` cannot hold; and unbounded growth.

// RUN: qd-opt %s --split-input-file --verify-diagnostics --qd-inline-functions
// RUN: split-file %s %t --leading-lines
// DEFINE: %{recursion} = FileCheck %s --check-prefix=RECURSION
// RUN: not qd-opt %t/mutual.mlir --to=target 2>&1 | %{recursion}
// RUN: not qd-translate %t/mutual.mlir --target=cpu 2>&1 | %{recursion}
// RUN: not qd-translate %t/mutual.mlir --target=nvptx:sm_90 2>&1 | %{recursion}
// RUN: not qd-translate %t/mutual.mlir --target=vulkan:1.3 2>&1 | %{recursion}
// RECURSION:      mutual.mlir:[[#]]:[[#]]: error: 'func.call' op is recursive: it calls 'even' from within; no target can do that
// RECURSION:      mutual.mlir:[[#]]:[[#]]: note: 'even' calls 'odd'
// RECURSION:      mutual.mlir:[[#]]:[[#]]: note: 'odd' calls 'even'
// RUN: not qd-translate %t/for-each.mlir 2>&1 | FileCheck %s --check-prefix=CALLED
// CALLED: for-each.mlir:[[#]]:[[#]]: error: 'func.call' op calls 'sum'
// RUN: not qd-translate %t/ranks.mlir 2>&1 | FileCheck %s --check-prefix=FROM
// FROM:      ranks.mlir:[[#]]:[[#]]: error: 'qd.simt.block.radix_rank' op 'radix_bits' is 8
// FROM:      ranks.mlir:[[#]]:[[#]]: note: called from

//--- direct.mlir
// expected-note @+1 {{'f' calls itself}}
func.func private @f(%x: i32) -> i32 {
  // expected-error @+1 {{'func.call' op is recursive: it calls 'f' from within; no target can do that}}
  %r = func.call @f(%x) : (i32) -> i32
  return %r : i32
}
// -----
//--- mutual.mlir
func.func private @even(%x: i32) -> i32 {
  // expected-note @+1 {{'even' calls 'odd'}}
  %r = func.call @odd(%x) : (i32) -> i32
  return %r : i32
}
func.func private @odd(%x: i32) -> i32 {
  // expected-note @+2 {{'odd' calls 'even'}}
  // expected-error @+1 {{'func.call' op is recursive: it calls 'even' from within; no target can do that}}
  %r = func.call @even(%x) : (i32) -> i32
  return %r : i32
}
qd.grid.kernel @k(%a: memref<?xi32>, %n: index) {
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = func.call @even(%x) : (i32) -> i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
// -----
//--- external.mlir
// expected-note @+1 {{declared here}}
func.func private @elsewhere(i32) -> i32
qd.grid.kernel @k(%a: memref<?xi32>, %n: index) {
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    // expected-error @+1 {{'func.call' op calls 'elsewhere', which has no body: no target has functions of others}}
    %y = func.call @elsewhere(%x) : (i32) -> i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
// -----
//--- unstructured.mlir
// expected-note @+1 {{the function}}
func.func private @branches(%p: i1, %x: i32) -> i32 {
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  return %x : i32
^bb2:
  %y = arith.addi %x, %x : i32
  return %y : i32
}
qd.grid.kernel @k(%x: i32, %g: index) {
  qd.grid.phase blocks(%g) threads(64) {
    %p = arith.constant true
    // expected-error @+1 {{'func.call' op calls 'branches', whose control flow is not structured: use 'scf'}}
    %y = func.call @branches(%p, %x) : (i1, i32) -> i32
  }
}
// -----
//--- for-each.mlir
func.func private @sum(%x: i32) -> i32 {
  // expected-note @+1 {{'qd.simt.reduce_all' is not legal there}}
  %r = qd.simt.reduce_all add %x : i32
  return %r : i32
}
qd.grid.kernel @k(%a: memref<?xi32>, %n: index) {
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    // expected-error @+1 {{'func.call' op calls 'sum' in a 'qd.grid.for_each', whose body is not run by every thread: use a 'qd.grid.phase'}}
    %y = func.call @sum(%x) : (i32) -> i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
// -----
//--- ranks.mlir
func.func private @rank(%digit: i32, %h: memref<256xi32, #gpu.address_space<workgroup>>, %p: memref<256xi32, #gpu.address_space<workgroup>>) -> i32 {
  // expected-error @+1 {{'radix_bits' is 8, which needs blocks of a multiple of 256 threads, but this one has 64}}
  %r = qd.simt.block.radix_rank %digit, %h, %p {radix_bits = 8 : i32} : memref<256xi32, #gpu.address_space<workgroup>>, memref<256xi32, #gpu.address_space<workgroup>>
  return %r : i32
}
// expected-error @+1 {{is not valid with the functions that it calls inlined}}
qd.grid.kernel @k(%d: i32, %g: index) {
  qd.grid.phase blocks(%g) threads(64) {
    %h = qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
    %p = qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
    %r = func.call @rank(%d, %h, %p) : (i32, memref<256xi32, #gpu.address_space<workgroup>>, memref<256xi32, #gpu.address_space<workgroup>>) -> i32
  }
}
