// As invalid.mlir, for the algorithms that move elements: wrong flags, rows that do not match, an end_bit that is not a positive
// multiple of 8, the same buffer twice.
// RUN: qd-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

//===----------------------------------------------------------------------===//
// Select and partition
//===----------------------------------------------------------------------===//

qd.grid.kernel @flags_type(%in: memref<?xf32>, %flags: memref<?xi1>, %out: memref<?xf32>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.select' op operand #1 must be 1D memref of 32-bit signless integer values, but got 'memref<?xi1>'}}
  qd.algo.select ins(%in, %flags : memref<?xf32>, memref<?xi1>) outs(%out, %num : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @num_out_type(%in: memref<?xf32>, %flags: memref<?xi32>, %out: memref<?xf32>, %num: memref<i64>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.select' op operand #3 must be 0D/1D memref of 32-bit signless integer values, but got 'memref<i64>'}}
  qd.algo.select ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i64>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @num_out_of_nothing(%in: memref<?xf32>, %flags: memref<?xi32>, %out: memref<?xf32>, %num: memref<0xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.select' op 'num_out' holds no element, but one is written}}
  qd.algo.select ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<0xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

// Of the algorithms that stage counts the scratch is i32, whatever the elements' width.
qd.grid.kernel @select_scratch_type(%in: memref<?xf64>, %flags: memref<?xi32>, %out: memref<?xf64>, %num: memref<i32>, %s: memref<?xi64>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.select' op operand #4 must be 1D memref of 32-bit signless integer values, but got 'memref<?xi64>'}}
  qd.algo.select ins(%in, %flags : memref<?xf64>, memref<?xi32>) outs(%out, %num : memref<?xf64>, memref<i32>)
      scratch(%s : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @select_output_type(%in: memref<?xf32>, %flags: memref<?xi32>, %out: memref<?xf64>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.select' op 'input' is 'memref<?xf32>', but 'output' is 'memref<?xf64>': they must hold the same elements}}
  qd.algo.select ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf64>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @partition_rows(%in: memref<?x3xf32>, %flags: memref<?xi32>, %out: memref<?x4xf32>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.partition' op 'input' is 'memref<?x3xf32>', but 'output' is 'memref<?x4xf32>': they must hold the same elements}}
  qd.algo.partition ins(%in, %flags : memref<?x3xf32>, memref<?xi32>) outs(%out, %num : memref<?x4xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @select_output_too_short(%in: memref<10xf32>, %flags: memref<?xi32>, %out: memref<9xf32>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.select' op 'output' holds 9 elements, but 'input' of this length needs 10}}
  qd.algo.select ins(%in, %flags : memref<10xf32>, memref<?xi32>) outs(%out, %num : memref<9xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @dynamic_rows(%flags: memref<?xi32>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  %in, %out = "test.buffers"() : () -> (memref<?x?xf32>, memref<?x?xf32>)
  // expected-error@+1 {{'qd.algo.select' op 'input' must have a static trailing dimension, but is 'memref<?x?xf32>'}}
  qd.algo.select ins(%in, %flags : memref<?x?xf32>, memref<?xi32>) outs(%out, %num : memref<?x?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @rows_of_bits(%in: memref<?xi4>, %flags: memref<?xi32>, %out: memref<?xi4>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.partition' op 'input' must hold scalars of whole bytes, but is 'memref<?xi4>'}}
  qd.algo.partition ins(%in, %flags : memref<?xi4>, memref<?xi32>) outs(%out, %num : memref<?xi4>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

// A vector would be padded: rows are a trailing dimension.
qd.grid.kernel @rows_of_vectors(%in: memref<?xvector<3xf32>>, %flags: memref<?xi32>, %out: memref<?xvector<3xf32>>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.select' op 'input' must hold scalars of whole bytes, but is 'memref<?xvector<3xf32>>'}}
  qd.algo.select ins(%in, %flags : memref<?xvector<3xf32>>, memref<?xi32>) outs(%out, %num : memref<?xvector<3xf32>>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @input_is_output(%in: memref<?xf32>, %flags: memref<?xi32>, %out: memref<?xf32>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.select' op 'input' and 'output' are the same buffer}}
  qd.algo.select ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%in, %num : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @flags_is_scratch(%in: memref<?xf32>, %flags: memref<?xi32>, %out: memref<?xf32>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.select' op 'flags' and 'scratch' are the same buffer}}
  qd.algo.select ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i32>)
      scratch(%flags : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @num_out_is_count(%in: memref<?xf32>, %flags: memref<?xi32>, %out: memref<?xf32>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.select' op 'num_out' and 'count' are the same buffer}}
  qd.algo.select ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%num : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @partition_in_place(%in: memref<?xf32>, %flags: memref<?xi32>, %out: memref<?xf32>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.partition' op 'input' and 'output' are the same buffer}}
  qd.algo.partition ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%in, %num : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

qd.grid.kernel @end_bit_none(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'end_bit' must be a positive multiple of 8 and at most the width of 'i32', 32, but is 0}}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 end_bit = 0
}

// -----

qd.grid.kernel @end_bit_no_digit(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'end_bit' must be a positive multiple of 8 and at most the width of 'i32', 32, but is 12}}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 end_bit = 12
}

// -----

qd.grid.kernel @end_bit_too_many(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'end_bit' must be a positive multiple of 8 and at most the width of 'i32', 32, but is 40}}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 end_bit = 40
}

// -----

qd.grid.kernel @end_bit_negative(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'end_bit' must be a positive multiple of 8 and at most the width of 'i32', 32, but is -8}}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 end_bit = -8
}

// -----

qd.grid.kernel @unsigned_floats(%k: memref<?xf32>, %tk: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'unsigned' needs integer keys, but 'keys' is 'memref<?xf32>'}}
  qd.algo.sort keys(%k, %tk : memref<?xf32>, memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 unsigned
}

// -----

qd.grid.kernel @key_type(%k: memref<?xi24>, %tk: memref<?xi24>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op operand #0 must be 1D memref of i1, i8, i16, i32, i64, f16, bf16, f32 or f64 values, but got 'memref<?xi24>'}}
  qd.algo.sort keys(%k, %tk : memref<?xi24>, memref<?xi24>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

// Rows are moved, not compared.
qd.grid.kernel @key_rows(%k: memref<?x2xi32>, %tk: memref<?x2xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op operand #0 must be 1D memref of i1, i8, i16, i32, i64, f16, bf16, f32 or f64 values, but got 'memref<?x2xi32>'}}
  qd.algo.sort keys(%k, %tk : memref<?x2xi32>, memref<?x2xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @tmp_key_type(%k: memref<?xi32>, %tk: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'keys' is 'memref<?xi32>', but 'tmp_keys' is 'memref<?xf32>': they must hold the same elements}}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @tmp_keys_too_short(%k: memref<64xi32>, %tk: memref<32xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'tmp_keys' holds 32 elements, but 'keys' of this length needs 64}}
  qd.algo.sort keys(%k, %tk : memref<64xi32>, memref<32xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @values_alone(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>, %v: memref<?xf32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'values' and 'tmp_values' go together}}
  "qd.algo.sort"(%k, %tk, %v, %s, %n) {log256_max_n = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1>}
    : (memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xi32>, memref<i32>) -> ()
}

// -----

qd.grid.kernel @value_type(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>, %v: memref<?xf32>, %tv: memref<?xi32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'values' is 'memref<?xf32>', but 'tmp_values' is 'memref<?xi32>': they must hold the same elements}}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
      values(%v, %tv : memref<?xf32>, memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @value_bits(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>, %v: memref<?xi4>, %tv: memref<?xi4>) {
  // expected-error@+1 {{'qd.algo.sort' op 'values' must hold scalars of whole bytes, but is 'memref<?xi4>'}}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
      values(%v, %tv : memref<?xi4>, memref<?xi4>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @values_too_short(%k: memref<64xi32>, %tk: memref<64xi32>, %v: memref<63xf32>, %tv: memref<64xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'values' holds 63 elements, but 'keys' of this length needs 64}}
  qd.algo.sort keys(%k, %tk : memref<64xi32>, memref<64xi32>)
      values(%v, %tv : memref<63xf32>, memref<64xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @tmp_values_too_short(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>, %v: memref<64xf32>, %tv: memref<63xf32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'tmp_values' holds 63 elements, but 'values' of this length needs 64}}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
      values(%v, %tv : memref<64xf32>, memref<63xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @sort_scratch_type(%k: memref<?xi64>, %tk: memref<?xi64>, %s: memref<?xi64>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op operand #2 must be 1D memref of 32-bit signless integer values, but got 'memref<?xi64>'}}
  qd.algo.sort keys(%k, %tk : memref<?xi64>, memref<?xi64>)
      scratch(%s : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @keys_are_tmp_keys(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'keys' and 'tmp_keys' are the same buffer}}
  qd.algo.sort keys(%k, %k : memref<?xi32>, memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @values_are_tmp_values(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>, %v: memref<?xf32>, %tv: memref<?xf32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'values' and 'tmp_values' are the same buffer}}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
      values(%v, %v : memref<?xf32>, memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @tmp_keys_are_scratch(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'tmp_keys' and 'scratch' are the same buffer}}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
      scratch(%tk : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @parallel_unsigned(%k: memref<?xf64>) {
  // expected-error@+1 {{'qd.algo.parallel_sort' op 'unsigned' needs integer keys, but 'keys' is 'memref<?xf64>'}}
  qd.algo.parallel_sort keys(%k : memref<?xf64>) unsigned
}

// -----

qd.grid.kernel @parallel_same(%k: memref<?xi32>) {
  // expected-error@+1 {{'qd.algo.parallel_sort' op 'keys' and 'values' are the same buffer}}
  qd.algo.parallel_sort keys(%k : memref<?xi32>) values(%k : memref<?xi32>)
}

// -----

qd.grid.kernel @parallel_values_too_short(%k: memref<8xi32>, %v: memref<7xi32>) {
  // expected-error@+1 {{'qd.algo.parallel_sort' op 'values' holds 7 elements, but 'keys' of this length needs 8}}
  qd.algo.parallel_sort keys(%k : memref<8xi32>) values(%v : memref<7xi32>)
}
