// What a view with gaps is no good for, and views that cannot be followed.
// RUN: qd-opt %s --qd-expand-views --split-input-file --verify-diagnostics

qd.grid.kernel @stride(%a: memref<?xi32>, %sum: memref<i32>, %size: index, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-note@+1 {{the view}}
  %part = memref.subview %a[0] [%size] [2] : memref<?xi32> to memref<?xi32, strided<[2]>>
  // expected-error@+1 {{'qd.algo.reduce' op takes a buffer whole, whose elements must follow each other, but is given a view with a stride: copy its elements in a 'qd.grid.for_each'}}
  qd.algo.reduce add ins(%part : memref<?xi32, strided<[2]>>) outs(%sum : memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

qd.grid.kernel @columns(%a: memref<?x3xi32>, %flags: memref<?xi32>, %o: memref<?x2xi32>, %m: memref<i32>, %size: index,
                        %s: memref<?xi32>, %n: memref<i32>) {
  // expected-note@+1 {{the view}}
  %part = memref.subview %a[0, 0] [%size, 2] [1, 1] : memref<?x3xi32> to memref<?x2xi32, strided<[3, 1]>>
  // expected-error@+1 {{'qd.algo.select' op takes a buffer whole, whose elements must follow each other, but is given a view with a stride: copy its elements in a 'qd.grid.for_each'}}
  qd.algo.select ins(%part, %flags : memref<?x2xi32, strided<[3, 1]>>, memref<?xi32>)
      outs(%o, %m : memref<?x2xi32>, memref<i32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

qd.grid.kernel @of_a_layout(%a: memref<?xi32>, %from: index, %size: index) {
  %part = memref.subview %a[%from] [%size] [1] : memref<?xi32> to memref<?xi32, strided<[1], offset: ?>>
  // expected-error@+1 {{'memref.reinterpret_cast' op is of a buffer with a layout, memref<?xi32, strided<[1], offset: ?>>: its offset would not count from that buffer's first element}}
  %again = memref.reinterpret_cast %part to offset: [0], sizes: [%size], strides: [1]
      : memref<?xi32, strided<[1], offset: ?>> to memref<?xi32, strided<[1]>>
}

// -----

qd.grid.kernel @carried(%a: memref<?xi32>, %from: index, %size: index) {
  // expected-note@+1 {{the view}}
  %part = memref.subview %a[%from] [%size] [1] : memref<?xi32> to memref<?xi32, strided<[1], offset: ?>>
  qd.grid.for_each %i to %size {
    // expected-error@+1 {{'scf.for' op uses a view that the host makes in a way that is not known: load and store its elements, or take subviews of it}}
    %r = scf.for %j = %i to %size step %size iter_args(%m = %part) -> (memref<?xi32, strided<[1], offset: ?>>) {
      scf.yield %m : memref<?xi32, strided<[1], offset: ?>>
    }
  }
}
