// Every message of the algorithms' verifiers names the operands and the rule: a capacity above 4, a place where barriers are lost,
// the same buffer twice, a wrong scratch type, an unsupported element type. (select, partition and sort: invalid-moves.mlir.)
// RUN: qd-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// What every algorithm verifies
//===----------------------------------------------------------------------===//

qd.grid.kernel @capacity_too_large(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op 'log256_max_n' must be from 1 to 4 (256^4 = 2^32 elements), but is 5}}
  qd.algo.reduce add ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 5
}

// -----

qd.grid.kernel @capacity_too_small(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.exclusive_scan' op 'log256_max_n' must be from 1 to 4 (256^4 = 2^32 elements), but is 0}}
  qd.algo.exclusive_scan add ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 0
}

// -----

qd.grid.kernel @capacity_of_select(%in: memref<?xf32>, %flags: memref<?xi32>, %out: memref<?xf32>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.select' op 'log256_max_n' must be from 1 to 4 (256^4 = 2^32 elements), but is 5}}
  qd.algo.select ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 5
}

// -----

qd.grid.kernel @capacity_of_sort(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.sort' op 'log256_max_n' must be from 1 to 4 (256^4 = 2^32 elements), but is -1}}
  qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = -1
}

// -----

qd.grid.kernel @capacity_of_reduce_by_key(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op 'log256_max_n' must be from 1 to 4 (256^4 = 2^32 elements), but is 9}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf32>) outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 9
}

// -----

qd.grid.kernel @count_in_a_buffer(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<?xi32>) {
  // expected-error@+1 {{'qd.algo.reduce' op 'count' must hold one element, as 'memref<i32>' or 'memref<1xi32>' does, but is 'memref<?xi32>': 'qd.grid.view' makes a buffer of one element of a longer one}}
  qd.algo.reduce add ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<?xi32>) log256_max_n = 3
}

// -----

qd.grid.kernel @count_type(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<f32>) {
  // expected-error@+1 {{'qd.algo.reduce' op operand #3 must be 0D/1D memref of i32 or i64 values, but got 'memref<f32>'}}
  qd.algo.reduce add ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<f32>) log256_max_n = 3
}

// -----

//===----------------------------------------------------------------------===//
// Where an algorithm may stand
//===----------------------------------------------------------------------===//

// Its barriers would be inside a branch that the threads take one by one.
qd.grid.kernel @in_a_branch(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>, %p: i1) {
  scf.if %p {
    // expected-error@+1 {{'qd.algo.reduce' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'scf.if': its grid-wide barriers would be lost}}
    qd.algo.reduce add ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  }
}

// -----

qd.grid.kernel @in_a_loop(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>, %len: index) {
  scf.for %i = %len to %len step %len {
    // expected-error@+1 {{'qd.algo.inclusive_scan' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'scf.for': its grid-wide barriers would be lost}}
    qd.algo.inclusive_scan add ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  }
}

// -----

qd.grid.kernel @in_a_phase(%in: memref<?xf32>, %flags: memref<?xi32>, %out: memref<?xf32>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>, %len: index) {
  qd.grid.phase blocks(%len) threads(64) {
    // expected-error@+1 {{'qd.algo.select' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'qd.grid.phase': its grid-wide barriers would be lost}}
    qd.algo.select ins(%in, %flags : memref<?xf32>, memref<?xi32>) outs(%out, %num : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  }
}

// -----

qd.grid.kernel @in_an_elementwise_phase(%k: memref<?xi32>, %tk: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>, %len: index) {
  qd.grid.for_each %i to %len {
    // expected-error@+1 {{'qd.algo.sort' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'qd.grid.for_each': its grid-wide barriers would be lost}}
    qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  }
}

// -----

// Hidden in a function, it is found where it stands.
func.func private @helper(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'func.func': its grid-wide barriers would be lost}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf32>) outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  return
}

// -----

// A function cannot bring one to a kernel either: what it does is not known where it is called.
func.func private @helper(%k: memref<?xi32>)

qd.grid.kernel @through_a_function(%k: memref<?xi32>) {
  // expected-error@+1 {{'func.call' op is not legal at the top level of a kernel: only phases, algorithms, 'qd.grid.do_while', 'qd.grid.if' and arithmetic that the host can evaluate are}}
  func.call @helper(%k) : (memref<?xi32>) -> ()
}

// -----

qd.grid.kernel @parallel_sort_in_a_phase(%k: memref<?xi32>, %len: index) {
  qd.grid.phase blocks(%len) threads(64) {
    // expected-error@+1 {{'qd.algo.parallel_sort' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'qd.grid.phase': its grid-wide barriers would be lost}}
    qd.algo.parallel_sort keys(%k : memref<?xi32>)
  }
}

// -----

//===----------------------------------------------------------------------===//
// Reduce and scans
//===----------------------------------------------------------------------===//

qd.grid.kernel @input_type(%in: memref<?xf80>, %out: memref<?xf80>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op operand #0 must be variadic of 1D memref of i1, i8, i16, i32, i64, f16, bf16, f32 or f64 values, but got 'memref<?xf80>'}}
  qd.algo.reduce add ins(%in : memref<?xf80>) outs(%out : memref<?xf80>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @input_rank(%in: memref<?x3xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.exclusive_scan' op operand #0 must be variadic of 1D memref of i1, i8, i16, i32, i64, f16, bf16, f32 or f64 values, but got 'memref<?x3xf32>'}}
  qd.algo.exclusive_scan add ins(%in : memref<?x3xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @output_type(%in: memref<?xf32>, %out: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op 'inputs' is 'memref<?xf32>', but 'outputs' is 'memref<?xi32>': they must hold the same elements}}
  qd.algo.reduce add ins(%in : memref<?xf32>) outs(%out : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @output_of_nothing(%in: memref<?xf32>, %out: memref<0xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op 'outputs' holds no element, but one is written}}
  qd.algo.reduce add ins(%in : memref<?xf32>) outs(%out : memref<0xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @output_too_short(%in: memref<100xf32>, %out: memref<99xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.inclusive_scan' op 'outputs' holds 99 elements, but 'inputs' of this length needs 100}}
  qd.algo.inclusive_scan add ins(%in : memref<100xf32>) outs(%out : memref<99xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @narrow_scratch(%in: memref<?xf64>, %out: memref<?xf64>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op 'scratch' of 'f64' elements must hold i64, but is 'memref<?xi32>'}}
  qd.algo.reduce add ins(%in : memref<?xf64>) outs(%out : memref<?xf64>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @wide_scratch(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi64>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.exclusive_scan' op 'scratch' of 'f32' elements must hold i32, but is 'memref<?xi64>'}}
  qd.algo.exclusive_scan add ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @float_scratch(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xf32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op operand #2 must be variadic of 1D memref of 32-bit signless integer or 64-bit signless integer values, but got 'memref<?xf32>'}}
  qd.algo.reduce add ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xf32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

// The blocks of a scan read what others have written.
qd.grid.kernel @in_place(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.exclusive_scan' op 'inputs' and 'outputs' are the same buffer}}
  qd.algo.exclusive_scan add ins(%in : memref<?xf32>) outs(%in : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @in_place_inclusive(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.inclusive_scan' op 'inputs' and 'outputs' are the same buffer}}
  qd.algo.inclusive_scan add ins(%in : memref<?xf32>) outs(%in : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @scratch_is_input(%in: memref<?xi32>, %out: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op 'inputs' and 'scratch' are the same buffer}}
  qd.algo.reduce add ins(%in : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%in : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @scratch_is_output(%in: memref<?xi32>, %out: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op 'outputs' and 'scratch' are the same buffer}}
  qd.algo.reduce add ins(%in : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%out : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @numbers(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op has 2 inputs, 1 outputs and 1 scratch buffers: their numbers must be the same}}
  qd.algo.reduce ins(%in, %in : memref<?xf32>, memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @second_output_too_short(%a: memref<8xf32>, %b: memref<8xf32>, %oa: memref<8xf32>, %ob: memref<4xf32>, %sa: memref<?xi32>, %sb: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.inclusive_scan' op 'outputs[1]' holds 4 elements, but 'inputs[1]' of this length needs 8}}
  qd.algo.inclusive_scan ins(%a, %b : memref<8xf32>, memref<8xf32>) outs(%oa, %ob : memref<8xf32>, memref<4xf32>)
      scratch(%sa, %sb : memref<?xi32>, memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 identity [0.0 : f32, 0.0 : f32] combiner {
  ^bb0(%la: f32, %lb: f32, %ra: f32, %rb: f32):
    qd.yield %la, %rb : f32, f32
  }
}

// -----

qd.grid.kernel @same_outputs(%a: memref<?xf32>, %b: memref<?xf32>, %o: memref<?xf32>, %sa: memref<?xi32>, %sb: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op 'outputs[0]' and 'outputs[1]' are the same buffer}}
  qd.algo.reduce ins(%a, %b : memref<?xf32>, memref<?xf32>) outs(%o, %o : memref<?xf32>, memref<?xf32>)
      scratch(%sa, %sb : memref<?xi32>, memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 identity [0.0 : f32, 0.0 : f32] combiner {
  ^bb0(%la: f32, %lb: f32, %ra: f32, %rb: f32):
    qd.yield %la, %rb : f32, f32
  }
}

// -----

qd.grid.kernel @kind(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op kind 'and' does not combine elements of type 'f32'}}
  qd.algo.reduce and ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @no_kind(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op needs a combining kind or a combiner region}}
  qd.algo.reduce ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @unknown_kind(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{unknown combining kind 'sum': expected add, mul, minsi, minui, minnumf, maxsi, maxui, maxnumf, and, or or xor}}
  qd.algo.reduce sum ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @no_identity(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.exclusive_scan' op a combiner region needs its 'identity' constants}}
  qd.algo.exclusive_scan ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 combiner {
  ^bb0(%l: f32, %r: f32):
    qd.yield %l : f32
  }
}

// -----

qd.grid.kernel @identity_type(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce' op identity 0 must be a constant of type 'f32', but is 0 : i32}}
  qd.algo.reduce ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 identity [0 : i32] combiner {
  ^bb0(%l: f32, %r: f32):
    qd.yield %l : f32
  }
}

// -----

qd.grid.kernel @combiner_block(%in: memref<?xi64>, %out: memref<?xi64>, %s: memref<?xi64>, %n: memref<i32>) {
  // expected-note@+1 {{the combiner belongs to this operation}}
  qd.algo.inclusive_scan ins(%in : memref<?xi64>) outs(%out : memref<?xi64>)
      scratch(%s : memref<?xi64>) count(%n : memref<i32>) log256_max_n = 3 identity [0 : i64] combiner {
  ^bb0(%l: i64, %r: i64):
    // expected-error@+1 {{'qd.simt.block.id' op depends on the executing thread: a combiner must be a function of its operands}}
    %b = qd.simt.block.id
    %x = arith.index_cast %b : index to i64
    qd.yield %x : i64
  }
}

// -----

qd.grid.kernel @impure_combiner(%in: memref<?xf32>, %out: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-note@+1 {{the combiner belongs to this operation}}
  qd.algo.reduce ins(%in : memref<?xf32>) outs(%out : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 identity [0.0 : f32] combiner {
  ^bb0(%l: f32, %r: f32):
    // expected-error@+1 {{'memref.alloca' op has side effects: a combiner must be pure}}
    %cell = memref.alloca() : memref<f32>
    qd.yield %l : f32
  }
}

// -----

//===----------------------------------------------------------------------===//
// Reduce by key
//===----------------------------------------------------------------------===//

qd.grid.kernel @by_key_key_type(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi64>, %vo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op 'keys' is 'memref<?xi32>', but 'keys_out' is 'memref<?xi64>': they must hold the same elements}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf32>) outs(%ko, %vo, %runs : memref<?xi64>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_value_type(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<?xf64>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op 'values' is 'memref<?xf32>', but 'values_out' is 'memref<?xf64>': they must hold the same elements}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf32>) outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf64>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_narrow(%k: memref<?xi32>, %v: memref<?xi24>, %ko: memref<?xi32>, %vo: memref<?xi24>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op operand #1 must be variadic of 1D memref of i1, i8, i16, i32, i64, f16, bf16, f32 or f64 values, but got 'memref<?xi24>'}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xi24>) outs(%ko, %vo, %runs : memref<?xi32>, memref<?xi24>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_unequal_numbers(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op has 2 values and 1 outputs for them: their numbers must be the same}}
  qd.algo.reduce_by_key add ins(%k, %v, %v : memref<?xi32>, memref<?xf32>, memref<?xf32>) outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_second_value_type(%k: memref<?xi32>, %v: memref<?xf32>, %w: memref<?xi16>, %ko: memref<?xi32>, %vo: memref<?xf32>, %wo: memref<?xi32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op 'values[1]' is 'memref<?xi16>', but 'values_out[1]' is 'memref<?xi32>': they must hold the same elements}}
  qd.algo.reduce_by_key add ins(%k, %v, %w : memref<?xi32>, memref<?xf32>, memref<?xi16>) outs(%ko, %vo, %wo, %runs : memref<?xi32>, memref<?xf32>, memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_kind_of_structs(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<?xf32>, %wo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op a kind combines one value, but 2 are given: use a combiner region}}
  qd.algo.reduce_by_key add ins(%k, %v, %v : memref<?xi32>, memref<?xf32>, memref<?xf32>) outs(%ko, %vo, %wo, %runs : memref<?xi32>, memref<?xf32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_output_twice(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op 'values_out[0]' and 'values_out[1]' are the same buffer}}
  qd.algo.reduce_by_key add ins(%k, %v, %v : memref<?xi32>, memref<?xf32>, memref<?xf32>) outs(%ko, %vo, %vo, %runs : memref<?xi32>, memref<?xf32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_without_results(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{expected the runs' keys, their values and their number}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf32>) outs(%ko, %runs : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_too_few_types(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{3 operands have 2 types}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf32>) outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_values_too_short(%k: memref<4xi32>, %v: memref<3xf32>, %ko: memref<?xi32>, %vo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op 'values' holds 3 elements, but 'keys' of this length needs 4}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<4xi32>, memref<3xf32>) outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_keys_out_too_short(%k: memref<4xi32>, %v: memref<?xf32>, %ko: memref<3xi32>, %vo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op 'keys_out' holds 3 elements, but 'keys' of this length needs 4}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<4xi32>, memref<?xf32>) outs(%ko, %vo, %runs : memref<3xi32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_values_out_too_short(%k: memref<4xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<3xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op 'values_out' holds 3 elements, but 'keys' of this length needs 4}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<4xi32>, memref<?xf32>) outs(%ko, %vo, %runs : memref<?xi32>, memref<3xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @num_runs_of_nothing(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<?xf32>, %runs: memref<0xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op 'num_runs' holds no element, but one is written}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf32>) outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf32>, memref<0xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_same(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op 'keys' and 'keys_out' are the same buffer}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf32>) outs(%k, %vo, %runs : memref<?xi32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_count(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op 'num_runs' and 'count' are the same buffer}}
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf32>) outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%runs : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_kind(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op kind 'maxsi' does not combine elements of type 'f32'}}
  qd.algo.reduce_by_key maxsi ins(%k, %v : memref<?xi32>, memref<?xf32>) outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

qd.grid.kernel @by_key_no_kind(%k: memref<?xi32>, %v: memref<?xf32>, %ko: memref<?xi32>, %vo: memref<?xf32>, %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {
  // expected-error@+1 {{'qd.algo.reduce_by_key' op needs a combining kind or a combiner region}}
  qd.algo.reduce_by_key ins(%k, %v : memref<?xi32>, memref<?xf32>) outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// -----

//===----------------------------------------------------------------------===//
// Sizing
//===----------------------------------------------------------------------===//

func.func @slots_capacity(%n: index) {
  // expected-error@+1 {{'qd.algo.scratch_slots' op 'log256_max_n' must be from 1 to 4 (256^4 = 2^32 elements), but is 5}}
  %0 = qd.algo.scratch_slots sort %n, 5
  return
}

// -----

func.func @slots_algorithm(%n: index) {
  // expected-error@+1 {{expected one of [reduce, exclusive_scan, inclusive_scan, select, sort, reduce_by_key, partition, unique] for device-wide algorithm, got: parallel_sort}}
  %0 = qd.algo.scratch_slots parallel_sort %n, 2
  return
}
