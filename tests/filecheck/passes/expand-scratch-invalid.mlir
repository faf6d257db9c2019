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

// -----

qd.grid.kernel @part(%a: memref<?xi32>, %total: memref<1xi32>, %slots: memref<?xi32>) {
  // expected-note@+1 {{the scratch}}
  %s = qd.grid.scratch : memref<4xi32>
  // expected-error@+1 {{'memref.subview' op takes an argument of the kernel, or a view of one, but is given scratch}}
  %n = memref.subview %s[2] [1] [1] : memref<4xi32> to memref<1xi32, strided<[1], offset: 2>>
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%total : memref<1xi32>) scratch(%slots : memref<?xi32>) count(%n : memref<1xi32, strided<[1], offset: 2>>) log256_max_n = 1
}
