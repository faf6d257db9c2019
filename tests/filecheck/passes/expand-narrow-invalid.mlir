// RUN: qd-opt %s --qd-expand-narrow --split-input-file --verify-diagnostics

func.func @half(%a: memref<?xf16>, %x: f16, %i: index) {
  // expected-error@+1 {{'memref.atomic_rmw' op is not for f16: 'qd.grid.atomic.rmw' is}}
  %old = memref.atomic_rmw addf %x, %a[%i] : (f16, memref<?xf16>) -> f16
  return
}

// -----

func.func @boolean(%a: memref<?xi1>, %x: i1, %i: index) {
  // expected-error@+1 {{'memref.atomic_rmw' op is not for i1: 'qd.grid.atomic.rmw' is}}
  %old = memref.atomic_rmw ori %x, %a[%i] : (i1, memref<?xi1>) -> i1
  return
}
