// What an exchange of names or of elements would make wrong is an error, at the loop or at the use.
// RUN: qd-opt %s --qd-expand-swaps --split-input-file --verify-diagnostics

qd.grid.kernel @scratch(%flag: memref<i32>, %a: memref<?xi32>, %b: memref<?xi32> {qd.scratch}) {
  // expected-error@+1 {{'qd.grid.do_while' op 'swap' lists a buffer that is 'qd.scratch': an exchange reads all elements, also those that the kernel has not written}}
  qd.grid.do_while %flag : memref<i32> swap(%x = %a, %y = %b : memref<?xi32>, memref<?xi32>) {
  }
}

// -----

qd.grid.kernel @flag_in_a_buffer(%a: memref<?xi32>, %b: memref<?xi32>, %i: index) {
  %flag = qd.grid.view %a[%i] : memref<?xi32> to memref<i32>
  // expected-error@+1 {{'qd.grid.do_while' op has its flag in a buffer that it swaps}}
  qd.grid.do_while %flag : memref<i32> swap(%x = %a, %y = %b : memref<?xi32>, memref<?xi32>) {
  }
}

// -----

qd.grid.kernel @view_from_outside(%flag: memref<i32>, %a: memref<?xi32>, %b: memref<?xi32>, %i: index) {
  %part = qd.grid.view %a[%i] [%i] : memref<?xi32> to memref<?xi32>
  // expected-note@+1 {{the loop}}
  qd.grid.do_while %flag : memref<i32> swap(%x = %a, %y = %b : memref<?xi32>, memref<?xi32>) {
    qd.grid.for_each %j to %i {
      // expected-error@+1 {{'memref.load' op uses part of a buffer that the loop around it swaps by a view from outside: make it in the loop, of the name that 'swap' gives the buffer}}
      %v = memref.load %part[%j] : memref<?xi32>
      memref.store %v, %y[%j] : memref<?xi32>
    }
  }
}
