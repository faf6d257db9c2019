// qd.algo.unique: its forms, and what its verifier says, which follows from its operands' roles.
// RUN: qd-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: qd.grid.kernel @forms(
qd.grid.kernel @forms(%in: memref<?xi16>, %out: memref<?xi16>, %lengths: memref<?xi32>, %runs: memref<i32>, %runs1: memref<1xi32>,
                      %s: memref<?xi32>, %n: memref<i64>) {
  // CHECK: qd.algo.unique ins(%arg0 : memref<?xi16>) outs(%arg1, %arg3 : memref<?xi16>, memref<i32>) scratch(%arg5 : memref<?xi32>) count(%arg6 : memref<i64>) log256_max_n = 1
  qd.algo.unique ins(%in : memref<?xi16>) outs(%out, %runs : memref<?xi16>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i64>) log256_max_n = 1
  // CHECK: qd.algo.unique ins(%arg0 : memref<?xi16>) outs(%arg1, %arg4 : memref<?xi16>, memref<1xi32>) counts(%arg2 : memref<?xi32>) scratch(%arg5 : memref<?xi32>) count(%arg6 : memref<i64>) log256_max_n = 4 strategy = "lookback" deterministic checked
  qd.algo.unique ins(%in : memref<?xi16>) outs(%out, %runs1 : memref<?xi16>, memref<1xi32>) counts(%lengths : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i64>) log256_max_n = 4 strategy = "lookback" deterministic checked
  %c0 = arith.constant 0 : index
  %len = memref.dim %in, %c0 : memref<?xi16>
  // CHECK: qd.algo.scratch_slots unique
  %slots = qd.algo.scratch_slots unique %len, 2
}

// -----

qd.grid.kernel @same_buffer(%in: memref<?xi32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.unique' op 'input' and 'output' are the same buffer}}
  qd.algo.unique ins(%in : memref<?xi32>) outs(%in, %runs : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

qd.grid.kernel @same_counts(%in: memref<?xi32>, %out: memref<?xi32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.unique' op 'counts' and 'scratch' are the same buffer}}
  qd.algo.unique ins(%in : memref<?xi32>) outs(%out, %runs : memref<?xi32>, memref<i32>) counts(%s : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

qd.grid.kernel @element_type(%in: memref<?xi32>, %out: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.unique' op failed to verify that all of {input, output} have same element type}}
  qd.algo.unique ins(%in : memref<?xi32>) outs(%out, %runs : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

qd.grid.kernel @no_such_elements(%in: memref<?xf80>, %out: memref<?xf80>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.unique' op operand #0 must be 1D memref of i1, i8, i16, i32, i64, f16, bf16, f32 or f64 values, but got 'memref<?xf80>'}}
  qd.algo.unique ins(%in : memref<?xf80>) outs(%out, %runs : memref<?xf80>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

qd.grid.kernel @wide_counts(%in: memref<?xi32>, %out: memref<?xi32>, %lengths: memref<?xi64>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.unique' op operand #2 must be 1D memref of 32-bit signless integer values, but got 'memref<?xi64>'}}
  qd.algo.unique ins(%in : memref<?xi32>) outs(%out, %runs : memref<?xi32>, memref<i32>) counts(%lengths : memref<?xi64>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

qd.grid.kernel @short_output(%in: memref<4xi32>, %out: memref<3xi32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.unique' op 'output' holds 3 elements, but 'input' of this length needs 4}}
  qd.algo.unique ins(%in : memref<4xi32>) outs(%out, %runs : memref<3xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

qd.grid.kernel @short_counts(%in: memref<4xi32>, %out: memref<?xi32>, %lengths: memref<3xi32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.unique' op 'counts' holds 3 elements, but 'input' of this length needs 4}}
  qd.algo.unique ins(%in : memref<4xi32>) outs(%out, %runs : memref<?xi32>, memref<i32>) counts(%lengths : memref<3xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

qd.grid.kernel @no_room(%in: memref<?xi32>, %out: memref<?xi32>, %runs: memref<0xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.unique' op 'num_runs' holds no element, but one is written}}
  qd.algo.unique ins(%in : memref<?xi32>) outs(%out, %runs : memref<?xi32>, memref<0xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
}

// -----

qd.grid.kernel @capacity(%in: memref<?xi32>, %out: memref<?xi32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.unique' op 'log256_max_n' must be from 1 to 4 (256^4 = 2^32 elements), but is 5}}
  qd.algo.unique ins(%in : memref<?xi32>) outs(%out, %runs : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 5
}

// -----

func.func @nowhere(%in: memref<?xi32>, %out: memref<?xi32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.unique' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'func.func': its grid-wide barriers would be lost}}
  qd.algo.unique ins(%in : memref<?xi32>) outs(%out, %runs : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
  return
}
