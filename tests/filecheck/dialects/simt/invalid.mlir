// Every message of the subgroup and block ops' verifiers names the operand and the rule.
// RUN: qd-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

func.func @shuffle_type(%v: f80, %lane: i32) {
  // expected-error@+1 {{'qd.simt.shuffle' op operand #0 must be i1, i8, i16, i32, i64, f16, bf16, f32 or f64, but got 'f80'}}
  %0 = qd.simt.shuffle xor %v, %lane : f80
  return
}

// -----

func.func @shuffle_in_range(%v: f32, %lane: i32) {
  // expected-error@+1 {{'qd.simt.shuffle' op 'in_range' is for 'up' and 'down' alone}}
  %0 = qd.simt.shuffle idx %v, %lane in_range : f32
  return
}

// -----

func.func @shuffle_mode(%v: f32, %lane: i32) {
  // expected-error@+1 {{expected one of [idx, up, down, xor] for where a shuffle reads from, got: left}}
  %0 = qd.simt.shuffle left %v, %lane : f32
  return
}

// -----

func.func @shuffle_lane(%v: f32, %lane: i64) {
  // expected-error@+1 {{'qd.simt.shuffle' op operand #1 must be 32-bit signless integer, but got 'i64'}}
  %0 = "qd.simt.shuffle"(%v, %lane) {mode = #qd.shuffle_mode<idx>} : (f32, i64) -> f32
  return
}

// -----

func.func @shuffle_result(%v: f32, %lane: i32) {
  // expected-error@+1 {{'qd.simt.shuffle' op failed to verify that all of {value, result} have same type}}
  %0 = "qd.simt.shuffle"(%v, %lane) {mode = #qd.shuffle_mode<idx>} : (f32, i32) -> i32
  return
}

// -----

func.func @broadcast_type(%v: i4, %lane: i32) {
  // expected-error@+1 {{'qd.simt.broadcast' op operand #0 must be i1, i8, i16, i32, i64, f16, bf16, f32 or f64, but got 'i4'}}
  %0 = qd.simt.broadcast %v, %lane : i4
  return
}

// -----

func.func @broadcast_first_type(%v: vector<4xf32>) {
  // expected-error@+1 {{'qd.simt.broadcast_first' op operand #0 must be i1, i8, i16, i32, i64, f16, bf16, f32 or f64, but got 'vector<4xf32>'}}
  %0 = qd.simt.broadcast_first %v : vector<4xf32>
  return
}

// -----

func.func @rotate_tile(%v: f32, %delta: i32) {
  // expected-error@+1 {{'qd.simt.rotate' op attribute 'tile' failed to satisfy constraint: log2 of the cluster size, an i32 from 0 to 6 (64 lanes)}}
  %0 = qd.simt.rotate %v, %delta tile(7) : f32
  return
}

// -----

//===----------------------------------------------------------------------===//
// Votes and masks
//===----------------------------------------------------------------------===//

func.func @vote_predicate(%p: i32) {
  // expected-error@+1 {{'qd.simt.any' op operand #0 must be 1-bit signless integer, but got 'i32'}}
  %0 = "qd.simt.any"(%p) : (i32) -> i1
  return
}

// -----

func.func @vote_tile(%p: i1) {
  // expected-error@+1 {{'qd.simt.all' op attribute 'tile' failed to satisfy constraint: log2 of the cluster size, an i32 from 0 to 6 (64 lanes)}}
  %0 = qd.simt.all %p tile(-1)
  return
}

// -----

func.func @all_equal_type(%v: i2) {
  // expected-error@+1 {{'qd.simt.all_equal' op operand #0 must be i1, i8, i16, i32, i64, f16, bf16, f32 or f64, but got 'i2'}}
  %0 = qd.simt.all_equal %v : i2
  return
}

// -----

func.func @ballot_first_none(%p: i1) {
  // expected-error@+1 {{'qd.simt.ballot_first_n' op 'n' must be from 1 to 32, but is 0}}
  %0 = qd.simt.ballot_first_n 0 %p
  return
}

// -----

func.func @ballot_first_too_many(%p: i1) {
  // expected-error@+1 {{'qd.simt.ballot_first_n' op 'n' must be from 1 to 32, but is 33}}
  %0 = qd.simt.ballot_first_n 33 %p
  return
}

// -----

func.func @match_any_no_bits(%v: i32) {
  // expected-error@+1 {{'qd.simt.match_any' op 'bits' must be from 1 to 32, but is 0}}
  %0 = qd.simt.match_any %v bits(0) : i32
  return
}

// -----

func.func @match_any_too_many_bits(%v: i64) {
  // expected-error@+1 {{'qd.simt.match_any' op 'bits' must be from 1 to 64, but is 65}}
  %0 = qd.simt.match_any %v bits(65) : i64
  return
}

// -----

// Masks have 64 bits at most: there is no subgroup of 128 lanes.
func.func @lanemask_width(%lane: i32) {
  // expected-error@+1 {{'qd.simt.lanemask' op result #0 must be i32 or i64, but got 'i128'}}
  %0 = qd.simt.lanemask lt %lane : i128
  return
}

// -----

func.func @lanemask_relation(%lane: i32) {
  // expected-error@+1 {{expected one of [lt, le, eq, gt, ge] for which lanes a mask holds, got: ne}}
  %0 = qd.simt.lanemask ne %lane : i64
  return
}

// -----

func.func @match_all_float(%v: f32) {
  // expected-error@+1 {{'qd.simt.match_all' op operand #0 must be i1, i8, i16, i32 or i64, but got 'f32'}}
  %0 = qd.simt.match_all %v : f32
  return
}

// -----

func.func @match_any_float(%v: f32) {
  // expected-error@+1 {{'qd.simt.match_any' op operand #0 must be i1, i8, i16, i32 or i64, but got 'f32'}}
  %0 = qd.simt.match_any %v : f32
  return
}

// -----

//===----------------------------------------------------------------------===//
// Reductions and scans: the kind
//===----------------------------------------------------------------------===//

func.func @unknown_kind(%v: f32) {
  // expected-error@+1 {{unknown combining kind 'minimumf': expected add, mul, minsi, minui, minnumf, maxsi, maxui, maxnumf, and, or or xor}}
  %0 = qd.simt.reduce minimumf %v : f32
  return
}

// -----

func.func @integer_kind(%v: f32) {
  // expected-error@+1 {{'qd.simt.reduce_all' op kind 'xor' does not combine elements of type 'f32'}}
  %0 = qd.simt.reduce_all xor %v : f32
  return
}

// -----

func.func @float_kind(%v: i64) {
  // expected-error@+1 {{'qd.simt.inclusive_scan' op kind 'maxnumf' does not combine elements of type 'i64'}}
  %0 = qd.simt.inclusive_scan maxnumf %v : i64
  return
}

// -----

func.func @signed_kind(%v: f64) {
  // expected-error@+1 {{'qd.simt.exclusive_scan' op kind 'minsi' does not combine elements of type 'f64'}}
  %0 = qd.simt.exclusive_scan minsi %v : f64
  return
}

// -----

func.func @element_type(%v: f80) {
  // expected-error@+1 {{'qd.simt.reduce' op operand #0 must be variadic of i1, i8, i16, i32, i64, f16, bf16, f32 or f64, but got 'f80'}}
  %0 = qd.simt.reduce add %v : f80
  return
}

// -----

func.func @no_kind(%v: f32) {
  // expected-error@+1 {{'qd.simt.reduce' op needs a combining kind or a combiner region}}
  %0 = qd.simt.reduce %v : f32
  return
}

// -----

func.func @nothing_to_combine() {
  // expected-error@+1 {{'qd.simt.reduce' op combines at least one value}}
  "qd.simt.reduce"() ({}) {kind = #qd.kind<add>} : () -> ()
  return
}

// -----

func.func @kind_of_two(%v: f32) {
  // expected-error@+1 {{'qd.simt.reduce' op a kind combines one value, but 2 are given: use a combiner region}}
  %0:2 = qd.simt.reduce add %v, %v : f32, f32
  return
}

// -----

func.func @results(%v: f32) {
  // expected-error@+2 {{'qd.simt.reduce' op failed to infer returned types}}
  // expected-error@+1 {{'qd.simt.reduce' op inferred type(s) 'f32' are incompatible with return type(s) of operation 'i32'}}
  %0 = "qd.simt.reduce"(%v) ({}) {kind = #qd.kind<add>} : (f32) -> i32
  return
}

// -----

func.func @tile(%v: f32) {
  // expected-error@+1 {{'qd.simt.reduce' op attribute 'tile' failed to satisfy constraint: log2 of the cluster size, an i32 from 0 to 6 (64 lanes)}}
  %0 = qd.simt.reduce add %v tile(7) : f32
  return
}

// -----

func.func @heads(%v: f32, %head: i32) {
  // expected-error@+1 {{'qd.simt.segmented_reduce' op operand #1 must be 1-bit signless integer, but got 'i32'}}
  %0 = "qd.simt.segmented_reduce"(%v, %head) ({}) {kind = #qd.kind<add>} : (f32, i32) -> f32
  return
}

// -----

//===----------------------------------------------------------------------===//
// Reductions and scans: the region
//===----------------------------------------------------------------------===//

func.func @kind_and_region(%v: i32) {
  // expected-error@+1 {{'qd.simt.reduce' op has both the kind 'add' and a combiner region: give one}}
  %0 = qd.simt.reduce add %v : i32 combiner {
  ^bb0(%a: i32, %b: i32):
    qd.yield %a : i32
  }
  return
}

// -----

func.func @kind_and_identity(%v: i32) {
  // expected-error@+1 {{'qd.simt.reduce' op 'identity' goes with a combiner region: a kind has its own}}
  %0 = qd.simt.reduce add %v : i32 identity [0 : i32]
  return
}

// -----

func.func @no_identity(%v: i32) {
  // expected-error@+1 {{'qd.simt.reduce' op a combiner region needs its 'identity' constants}}
  %0 = qd.simt.reduce %v : i32 combiner {
  ^bb0(%a: i32, %b: i32):
    qd.yield %a : i32
  }
  return
}

// -----

func.func @number_of_identities(%v: i32) {
  // expected-error@+1 {{'qd.simt.reduce' op has 2 identities for 1 combined values}}
  %0 = qd.simt.reduce %v : i32 identity [0 : i32, 0 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    qd.yield %a : i32
  }
  return
}

// -----

func.func @type_of_identity(%v: i32, %w: f32) {
  // expected-error@+1 {{'qd.simt.reduce' op identity 1 must be a constant of type 'f32', but is 0 : i32}}
  %0:2 = qd.simt.reduce %v, %w : i32, f32 identity [0 : i32, 0 : i32] combiner {
  ^bb0(%la: i32, %lb: f32, %ra: i32, %rb: f32):
    qd.yield %la, %lb : i32, f32
  }
  return
}

// -----

func.func @combiner_arguments(%v: i32, %w: f32) {
  // expected-error@+1 {{'qd.simt.reduce' op combiner must take the 2 left and then the 2 right scalars ('i32', 'f32', 'i32', 'f32'), but takes ('i32', 'i32', 'f32', 'f32')}}
  %0:2 = qd.simt.reduce %v, %w : i32, f32 identity [0 : i32, 0.0 : f32] combiner {
  ^bb0(%la: i32, %ra: i32, %lb: f32, %rb: f32):
    qd.yield %la, %lb : i32, f32
  }
  return
}

// -----

func.func @combiner_end(%v: i32) {
  // expected-error@+1 {{'qd.simt.reduce' op combiner must end in 'qd.yield'}}
  %0 = qd.simt.reduce %v : i32 identity [0 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    llvm.unreachable
  }
  return
}

// -----

func.func @combiner_yield(%v: i32) {
  %0 = qd.simt.reduce %v : i32 identity [0 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    // expected-error@+1 {{'qd.yield' op yields ('i32', 'i32'), but the combiner must yield ('i32')}}
    qd.yield %a, %b : i32, i32
  }
  return
}

// -----

func.func @combiner_effects(%v: i32) {
  // expected-note@+1 {{the combiner belongs to this operation}}
  %0 = qd.simt.reduce %v : i32 identity [0 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    // expected-error@+1 {{'qd.simt.shuffle' op has side effects: a combiner must be pure}}
    %x = qd.simt.shuffle xor %a, %b : i32
    qd.yield %x : i32
  }
  return
}

// -----

func.func @combiner_lane(%v: i32) {
  // expected-note@+1 {{the combiner belongs to this operation}}
  %0 = qd.simt.reduce %v : i32 identity [0 : i32] combiner {
  ^bb0(%l: i32, %r: i32):
    // expected-error@+1 {{'qd.simt.lane_id' op depends on the executing thread: a combiner must be a function of its operands}}
    %lane = qd.simt.lane_id
    %sum = arith.addi %l, %lane : i32
    qd.yield %sum : i32
  }
  return
}

// -----

// Not below other control flow either.
func.func @combiner_nested_thread(%v: i32) {
  // expected-note@+1 {{the combiner belongs to this operation}}
  %0 = qd.simt.block.exclusive_scan %v : i32 identity [0 : i32] combiner {
  ^bb0(%l: i32, %r: i32):
    %less = arith.cmpi slt, %l, %r : i32
    %x = scf.if %less -> i32 {
      // expected-error@+1 {{'qd.simt.block.thread_id' op depends on the executing thread: a combiner must be a function of its operands}}
      %t = qd.simt.block.thread_id
      %t32 = arith.index_cast %t : index to i32
      scf.yield %t32 : i32
    } else {
      scf.yield %l : i32
    }
    qd.yield %x : i32
  }
  return
}

// -----

// The size of a subgroup is no operand either: results would depend on the target.
func.func @combiner_subgroup_size(%v: i32, %head: i1) {
  // expected-note@+1 {{the combiner belongs to this operation}}
  %0 = qd.simt.segmented_reduce %v heads %head : i32 identity [0 : i32] combiner {
  ^bb0(%l: i32, %r: i32):
    // expected-error@+1 {{'qd.simt.subgroup_size' op depends on the executing thread: a combiner must be a function of its operands}}
    %size = qd.simt.subgroup_size
    qd.yield %size : i32
  }
  return
}

// -----

func.func @combiner_gpu_thread(%w: i64) {
  // expected-note@+1 {{the combiner belongs to this operation}}
  %0 = qd.simt.reduce %w : i64 identity [0 : i64] combiner {
  ^bb0(%l: i64, %r: i64):
    // expected-error@+1 {{'gpu.thread_id' op depends on the executing thread: a combiner must be a function of its operands}}
    %t = gpu.thread_id x
    qd.yield %l : i64
  }
  return
}

// -----

func.func @combiner_captures(%v: i32) {
  // expected-note@+1 {{required by region isolation constraints}}
  %0 = qd.simt.reduce %v : i32 identity [0 : i32] combiner {
  ^bb0(%a: i32, %b: i32):
    // expected-error@+1 {{'arith.addi' op using value defined outside the region}}
    %x = arith.addi %a, %v : i32
    qd.yield %x : i32
  }
  return
}

// -----

// A region has no terminator to ask for where its op has none.
func.func @stray_yield(%v: i32) {
  // expected-error@+1 {{'qd.yield' op ends a combiner or a variant's predicate, not a body of 'func.func'}}
  qd.yield %v : i32
}

// -----

qd.grid.kernel @yield_in_a_phase(%n: index) {
  qd.grid.phase blocks(%n) threads(64) {
    // expected-error@+1 {{'qd.yield' op ends a combiner or a variant's predicate, not a body of 'qd.grid.phase'}}
    qd.yield
  }
}

// -----

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

func.func @unsigned_key(%k: f32, %v: i32) {
  // expected-error@+1 {{'qd.simt.bitonic_sort_kv' op 'unsigned_key' needs an integer key, but 'key' is 'f32'}}
  %0, %1 = qd.simt.bitonic_sort_kv %k, %v unsigned_key : f32, i32
  return
}

// -----

func.func @unsigned_value(%k: i32, %v: f64) {
  // expected-error@+1 {{'qd.simt.bitonic_sort_kv' op 'unsigned_value' needs an integer value, but 'value' is 'f64'}}
  %0, %1 = qd.simt.bitonic_sort_kv %k, %v unsigned_value : i32, f64
  return
}

// -----

func.func @sort_type(%k: i24, %v: i32) {
  // expected-error@+1 {{'qd.simt.bitonic_sort_kv' op operand #0 must be i1, i8, i16, i32, i64, f16, bf16, f32 or f64, but got 'i24'}}
  %0, %1 = qd.simt.bitonic_sort_kv %k, %v : i24, i32
  return
}

// -----

func.func @sorted_type(%k: i32, %v: i32) {
  // expected-error@+1 {{'qd.simt.bitonic_sort_kv' op failed to verify that all of {value, sorted_value} have same type}}
  %0, %1 = "qd.simt.bitonic_sort_kv"(%k, %v) : (i32, i32) -> (i32, f32)
  return
}

// -----

//===----------------------------------------------------------------------===//
// One block
//===----------------------------------------------------------------------===//

func.func @block_kind(%v: f32) {
  // expected-error@+1 {{'qd.simt.block.reduce' op kind 'or' does not combine elements of type 'f32'}}
  %0 = qd.simt.block.reduce or %v : f32
  return
}

// -----

func.func @block_all_kind(%v: f64) {
  // expected-error@+1 {{'qd.simt.block.reduce_all' op kind 'xor' does not combine elements of type 'f64'}}
  %0 = qd.simt.block.reduce_all xor %v : f64
  return
}

// -----

func.func @block_scan_kind(%v: i32) {
  // expected-error@+1 {{'qd.simt.block.inclusive_scan' op kind 'maxnumf' does not combine elements of type 'i32'}}
  %0 = qd.simt.block.inclusive_scan maxnumf %v : i32
  return
}

// -----

func.func @block_region(%v: f32) {
  // expected-error@+1 {{'qd.simt.block.exclusive_scan' op a combiner region needs its 'identity' constants}}
  %0 = qd.simt.block.exclusive_scan %v : f32 combiner {
  ^bb0(%a: f32, %b: f32):
    qd.yield %a : f32
  }
  return
}

// -----

func.func @shared_shape() {
  // expected-error@+1 {{'qd.simt.block.shared' op needs a static shape, but 'memref' is 'memref<?xf32, #gpu.address_space<workgroup>>'}}
  %0 = qd.simt.block.shared : memref<?xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @shared_space() {
  // expected-error@+1 {{'qd.simt.block.shared' op 'memref' must be in #gpu.address_space<workgroup>, but is 'memref<64xf32>'}}
  %0 = qd.simt.block.shared : memref<64xf32>
  return
}

// -----

func.func @shared_place(%p: i1) {
  scf.if %p {
    // expected-error@+1 {{'qd.simt.block.shared' op must be at the top level of a phase or of an outlined body, not in 'scf.if'}}
    %0 = qd.simt.block.shared : memref<64xf32, #gpu.address_space<workgroup>>
  }
  return
}

// -----

qd.grid.kernel @shared_in_a_kernel() {
  // expected-error@+1 {{'qd.simt.block.shared' op must be at the top level of a phase or of an outlined body, not in 'qd.grid.kernel'}}
  %0 = qd.simt.block.shared : memref<64xf32, #gpu.address_space<workgroup>>
}

// -----

!shared = memref<256xi32, #gpu.address_space<workgroup>>

func.func @radix_bits(%digit: i32, %hist: !shared, %prefix: !shared) {
  // expected-error@+1 {{'qd.simt.block.radix_rank' op 'radix_bits' must be from 1 to 10, but is 11}}
  %0 = qd.simt.block.radix_rank %digit, %hist, %prefix {radix_bits = 11 : i32} : !shared, !shared
  return
}

// -----

!shared = memref<256xi32, #gpu.address_space<workgroup>>

func.func @radix_space(%digit: i32, %hist: !shared, %prefix: memref<256xi32>) {
  // expected-error@+1 {{'qd.simt.block.radix_rank' op 'prefix' must be in #gpu.address_space<workgroup>, but is 'memref<256xi32>'}}
  %0 = qd.simt.block.radix_rank %digit, %hist, %prefix {radix_bits = 8 : i32} : !shared, memref<256xi32>
  return
}

// -----

!shared = memref<128xi32, #gpu.address_space<workgroup>>

func.func @radix_length(%digit: i32, %hist: !shared, %prefix: !shared) {
  // expected-error@+1 {{'qd.simt.block.radix_rank' op 'histogram' must hold 256 elements for 8 radix bits, but is 'memref<128xi32, #gpu.address_space<workgroup>>'}}
  %0 = qd.simt.block.radix_rank %digit, %hist, %prefix {radix_bits = 8 : i32} : !shared, !shared
  return
}

// -----

!shared = memref<256xi32, #gpu.address_space<workgroup>>

func.func @radix_same(%digit: i32, %hist: !shared) {
  // expected-error@+1 {{'qd.simt.block.radix_rank' op 'histogram' and 'prefix' are the same buffer}}
  %0 = qd.simt.block.radix_rank %digit, %hist, %hist {radix_bits = 8 : i32} : !shared, !shared
  return
}

// -----

!shared = memref<256xi32, #gpu.address_space<workgroup>>

func.func @radix_threads(%digit: i32, %hist: !shared, %prefix: !shared) attributes {qd.threads = 128 : i64} {
  // expected-error@+1 {{'qd.simt.block.radix_rank' op 'radix_bits' is 8, which needs blocks of a multiple of 256 threads, but this one has 128}}
  %0 = qd.simt.block.radix_rank %digit, %hist, %prefix {radix_bits = 8 : i32} : !shared, !shared
  return
}

// -----

qd.grid.kernel @radix_phase(%n: index) {
  qd.grid.phase blocks(%n) threads(64) {
    %digit = arith.constant 0 : i32
    %hist = qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
    %prefix = qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
    // expected-error@+1 {{'qd.simt.block.radix_rank' op 'radix_bits' is 7, which needs blocks of a multiple of 128 threads, but this one has 64}}
    %0 = qd.simt.block.radix_rank %digit, %hist, %prefix {radix_bits = 7 : i32} : memref<256xi32, #gpu.address_space<workgroup>>, memref<256xi32, #gpu.address_space<workgroup>>
  }
}

// -----

//===----------------------------------------------------------------------===//
// The wave
//===----------------------------------------------------------------------===//

// expected-error@+1 {{'func.func' op 'qd.wave' must be 4, 8, 16, 32, 64 or "any", but is 128 : i64}}
func.func private @wave() attributes {qd.wave = 128 : i64}

// -----

// expected-error@+1 {{'func.func' op 'qd.wave' must be 4, 8, 16, 32, 64 or "any", but is 48 : i64}}
func.func private @wave() attributes {qd.wave = 48 : i64}

// -----

// expected-error@+1 {{'func.func' op 'qd.wave' must be 4, 8, 16, 32, 64 or "any", but is "32"}}
func.func private @wave() attributes {qd.wave = "32"}

// -----

// expected-error@+1 {{'builtin.module' op cannot have 'qd.wave': it belongs on a phase or a function}}
module attributes {qd.wave = 32 : i64} {
}

// -----

func.func @pause() {
  // expected-error@+1 {{'qd.simt.pause' op attribute 'nanoseconds' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  qd.simt.pause 0
  return
}

// -----

module {
  func.func @tile(%v: f32) attributes {qd.wave = 16 : i64} {
    %0 = qd.simt.reduce add %v tile(4) : f32
    // expected-error@+1 {{'qd.simt.reduce' op 'tile' is 5, 32 lanes, but subgroups have 16}}
    %1 = qd.simt.reduce add %v tile(5) : f32
    return
  }
}
