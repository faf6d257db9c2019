// A plan passes no part of scratch, and no kernel is dispatched to with it.
// RUN: qd-opt %s --qd-expand-scratch --split-input-file --verify-diagnostics

qd.grid.kernel @fill(%from: index, %to: index, %x: f32) {
  // expected-note@+1 {{the scratch}}
  %s = qd.grid.scratch : memref<4xf32>
  // expected-error@+1 {{'qd.grid.fill' op takes an argument of the kernel, or a view of one, but is given scratch}}
  qd.grid.fill %s[%from to %to] = %x : memref<4xf32>
}

// -----

qd.grid.kernel @view(%from: index) {
  // expected-note@+1 {{the scratch}}
  %s = qd.grid.scratch : memref<4xf32>
  // expected-error@+1 {{'qd.grid.view' op takes an argument of the kernel, or a view of one, but is given scratch}}
  %v = qd.grid.view %s[%from] : memref<4xf32> to memref<f32>
}
