// Every message of the verifiers of phases and launches names the operand and the rule.
// RUN: qd-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// expected-error@+1 {{'qd.grid.kernel' op has results, but a kernel has none: it writes to its buffers}}
qd.grid.kernel @results() -> i32 {
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 1 is of type 'tensor<4xf32>', but must be a buffer (memref) or a scalar}}
qd.grid.kernel @tensor(%a: memref<?xf32>, %t: tensor<4xf32>) {
}

// -----

// A buffer travels as a pointer and its extents.
// expected-error@+1 {{'qd.grid.kernel' op argument 0 is of type 'memref<?xf32, strided<[2]>>', but a buffer must be contiguous}}
qd.grid.kernel @strided(%a: memref<?xf32, strided<[2]>>) {
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 0: 'qd.dtype' must be i, u or f and a width of 8 to 64, such as "u32", bf16 or bool, but is "int"}}
qd.grid.kernel @dtype(%a: memref<?xi32> {qd.dtype = "int"}) {
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 0: 'qd.dtype' is "u64", but the elements are 'i32'}}
qd.grid.kernel @dtype_width(%a: memref<?xi32> {qd.dtype = "u64"}) {
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 0: 'qd.dtype' is "f32", but the elements are 'i32'}}
qd.grid.kernel @dtype_float(%a: memref<?xi32> {qd.dtype = "f32"}) {
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 1: 'qd.name' must be a name, but is ""}}
qd.grid.kernel @name(%a: memref<?xi32>, %b: memref<?xi32> {qd.name = ""}) {
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 0: 'qd.may_alias' takes no value}}
qd.grid.kernel @may_alias(%a: memref<?xi32> {qd.may_alias = false}) {
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 0: 'qd.scratch' takes no value}}
qd.grid.kernel @scratch(%a: memref<?xi32> {qd.scratch = 1 : i32}) {
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 1: 'qd.scratch' is for buffers, but the argument is 'index'}}
qd.grid.kernel @scratch_scalar(%a: memref<?xi32>, %n: index {qd.scratch}) {
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 0: cannot be both 'qd.scratch' and 'qd.may_alias': the contents of what overlaps it would be lost}}
qd.grid.kernel @scratch_that_overlaps(%a: memref<?xi32> {qd.may_alias, qd.scratch}) {
}

// -----

func.func @nested() {
  // expected-error@+1 {{'qd.grid.kernel' op symbol's parent must have the SymbolTable trait}}
  qd.grid.kernel @inner() {
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// What may stand at the top level
//===----------------------------------------------------------------------===//

qd.grid.kernel @host_reads(%n: memref<i32>) {
  // expected-error@+1 {{'memref.load' op is not legal at the top level of a kernel: only phases, algorithms, 'qd.grid.do_while', 'qd.grid.if' and arithmetic that the host can evaluate are}}
  %count = memref.load %n[] : memref<i32>
}

// -----

// Free of effects, and yet nothing that a host could evaluate.
qd.grid.kernel @per_thread() {
  // expected-error@+1 {{'qd.simt.block.thread_id' op is not legal at the top level of a kernel: only phases, algorithms, 'qd.grid.do_while', 'qd.grid.if' and arithmetic that the host can evaluate are}}
  %t = qd.simt.block.thread_id
}

// -----

qd.grid.kernel @per_thread_upstream() {
  // expected-error@+1 {{'gpu.thread_id' op is not legal at the top level of a kernel: only phases, algorithms, 'qd.grid.do_while', 'qd.grid.if' and arithmetic that the host can evaluate are}}
  %t = gpu.thread_id x
}

// -----

qd.grid.kernel @collective(%v: f32) {
  // expected-error@+1 {{'qd.simt.reduce' op is not legal at the top level of a kernel: only phases, algorithms, 'qd.grid.do_while', 'qd.grid.if' and arithmetic that the host can evaluate are}}
  %sum = qd.simt.reduce add %v : f32
}

// -----

qd.grid.kernel @branch(%p: i1) {
  // expected-error@+1 {{'scf.if' op is not legal at the top level of a kernel: only phases, algorithms, 'qd.grid.do_while', 'qd.grid.if' and arithmetic that the host can evaluate are}}
  scf.if %p {
  }
}

// -----

qd.grid.kernel @in_do_while(%flag: memref<i32>, %v: i32) {
  qd.grid.do_while %flag : memref<i32> {
    // expected-error@+1 {{'memref.store' op is not legal at the top level of a 'qd.grid.do_while': only phases, algorithms, 'qd.grid.do_while', 'qd.grid.if' and arithmetic that the host can evaluate are}}
    memref.store %v, %flag[] : memref<i32>
  }
}

// -----

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

qd.grid.kernel @control_in_a_phase(%blocks: index) {
  qd.grid.phase blocks(%blocks) threads(64) {
    // expected-error@+1 {{'qd.grid.control' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'qd.grid.phase'}}
    %w = qd.grid.control : memref<1xi32>
  }
}

// -----

qd.grid.kernel @control_of_any_length() {
  // expected-error@+1 {{'qd.grid.control' op is of type 'memref<?xi32>', but must be some words of the device's memory: memref<Nxi32>, N from 1}}
  %w = qd.grid.control : memref<?xi32>
}

// -----

qd.grid.kernel @no_control() {
  // expected-error@+1 {{'qd.grid.control' op is of type 'memref<0xi32>', but must be some words of the device's memory: memref<Nxi32>, N from 1}}
  %w = qd.grid.control : memref<0xi32>
}

// -----

qd.grid.kernel @too_much_control(%flag: memref<i32>) {
  %v = qd.grid.control : memref<1000xi32>
  qd.grid.do_while %flag : memref<i32> {
    // expected-error@+1 {{'qd.grid.control' op makes 1025 control words in this kernel, which has at most 1024}}
    %w = qd.grid.control : memref<25xi32>
  }
}

// -----

//===----------------------------------------------------------------------===//
// Phases and loops
//===----------------------------------------------------------------------===//

func.func @phase_in_a_function(%blocks: index) {
  // expected-error@+1 {{'qd.grid.phase' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'func.func': its grid-wide barriers would be lost}}
  qd.grid.phase blocks(%blocks) threads(64) {
  }
  return
}

// -----

qd.grid.kernel @phase_in_a_phase(%blocks: index) {
  qd.grid.phase blocks(%blocks) threads(64) {
    // expected-error@+1 {{'qd.grid.phase' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'qd.grid.phase': its grid-wide barriers would be lost}}
    qd.grid.phase blocks(%blocks) threads(64) {
    }
  }
}

// -----

qd.grid.kernel @no_threads(%blocks: index) {
  // expected-error@+1 {{'qd.grid.phase' op 'threads' must be from 1 to 1024, but is 0}}
  qd.grid.phase blocks(%blocks) threads(0) {
  }
}

// -----

qd.grid.kernel @too_many_threads(%blocks: index) {
  // expected-error@+1 {{'qd.grid.phase' op 'threads' must be from 1 to 1024, but is 2048}}
  qd.grid.phase blocks(%blocks) threads(2048) {
  }
}

// -----

qd.grid.kernel @blocks_type(%blocks: i32) {
  // expected-error@+1 {{'qd.grid.phase' op operand #0 must be index, but got 'i32'}}
  "qd.grid.phase"(%blocks) ({
  ^bb0:
  }) {threads = 64 : i64} : (i32) -> ()
}

// -----

qd.grid.kernel @for_each_in_a_phase(%len: index) {
  qd.grid.phase blocks(%len) threads(64) {
    // expected-error@+1 {{'qd.grid.for_each' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'qd.grid.phase': its grid-wide barriers would be lost}}
    qd.grid.for_each %i to %len {
    }
  }
}

// -----

qd.grid.kernel @for_each_body(%len: index) {
  // expected-error@+1 {{'qd.grid.for_each' op body must take one argument of type index}}
  "qd.grid.for_each"(%len) ({
  ^bb0(%i: i32):
  }) : (index) -> ()
}

// -----

qd.grid.kernel @for_each_count(%len: index, %n: memref<2xi64>) {
  // expected-error@+1 {{'qd.grid.for_each' op 'count' must hold one element, as 'memref<i64>' or 'memref<1xi64>' does, but is 'memref<2xi64>': 'qd.grid.view' makes a buffer of one element of a longer one}}
  qd.grid.for_each %i to %len count(%n : memref<2xi64>) {
  }
}

// -----

qd.grid.kernel @for_each_collective(%len: index, %v: f32, %p: i1) {
  qd.grid.for_each %i to %len {
    scf.if %p {
      // expected-error@+1 {{'qd.simt.reduce' op is not legal in a 'qd.grid.for_each', whose body is not run by every thread: use 'subgroups(partial)', or 'subgroups(full)' where the elements fill them}}
      %sum = qd.simt.reduce add %v : f32
    }
  }
}

// -----

qd.grid.kernel @for_each_subgroup_barrier(%len: index) {
  qd.grid.for_each %i to %len {
    // expected-error@+1 {{'qd.simt.sync' op is not legal in a 'qd.grid.for_each', whose body is not run by every thread: use 'subgroups(partial)', or 'subgroups(full)' where the elements fill them}}
    qd.simt.sync
  }
}

// -----

qd.grid.kernel @for_each_barrier(%len: index) {
  qd.grid.for_each %i to %len {
    // expected-error@+1 {{'qd.simt.block.sync' op is not legal in a 'qd.grid.for_each', whose body is not run by every thread: use a 'qd.grid.phase'}}
    qd.simt.block.sync
  }
}

// -----

// What each op that names a thread, a block or their numbers would say is hidden.
qd.grid.kernel @for_each_thread(%len: index, %p: i1) {
  qd.grid.for_each %i to %len {
    scf.if %p {
      // expected-error@+1 {{'qd.simt.block.thread_id' op is not legal in a 'qd.grid.for_each', which hides the threads that run its body: use its index, or a 'qd.grid.phase'}}
      %t = qd.simt.block.thread_id
    }
  }
}

// -----

qd.grid.kernel @for_each_lane_id(%len: index) {
  qd.grid.for_each %i to %len {
    // expected-error@+1 {{'qd.simt.lane_id' op is not legal in a 'qd.grid.for_each', which hides the threads}}
    %x = qd.simt.lane_id
  }
}

// -----

qd.grid.kernel @for_each_subgroup_id(%len: index) {
  qd.grid.for_each %i to %len {
    // expected-error@+1 {{'qd.simt.subgroup_id' op is not legal in a 'qd.grid.for_each', which hides the threads}}
    %x = qd.simt.subgroup_id
  }
}

// -----

qd.grid.kernel @for_each_num_subgroups(%len: index) {
  qd.grid.for_each %i to %len {
    // expected-error@+1 {{'qd.simt.num_subgroups' op is not legal in a 'qd.grid.for_each', which hides the threads}}
    %x = qd.simt.num_subgroups
  }
}

// -----

qd.grid.kernel @for_each_elect(%len: index) {
  qd.grid.for_each %i to %len {
    // expected-error@+1 {{'qd.simt.elect' op is not legal in a 'qd.grid.for_each', which hides the threads}}
    %x = qd.simt.elect
  }
}

// -----

qd.grid.kernel @for_each_block_id(%len: index) {
  qd.grid.for_each %i to %len {
    // expected-error@+1 {{'qd.simt.block.id' op is not legal in a 'qd.grid.for_each', which hides the threads}}
    %x = qd.simt.block.id
  }
}

// -----

qd.grid.kernel @for_each_block_dim(%len: index) {
  qd.grid.for_each %i to %len {
    // expected-error@+1 {{'qd.simt.block.dim' op is not legal in a 'qd.grid.for_each', which hides the threads}}
    %x = qd.simt.block.dim
  }
}

// -----

qd.grid.kernel @for_each_grid_dim(%len: index) {
  qd.grid.for_each %i to %len {
    // expected-error@+1 {{'qd.simt.grid.dim' op is not legal in a 'qd.grid.for_each', which hides the threads}}
    %x = qd.simt.grid.dim
  }
}

// -----

qd.grid.kernel @for_each_subgroup_size(%len: index) {
  qd.grid.for_each %i to %len {
    // expected-error@+1 {{'qd.simt.subgroup_size' op is not legal in a 'qd.grid.for_each', which hides the threads}}
    %x = qd.simt.subgroup_size
  }
}

// -----

qd.grid.kernel @for_each_log2_subgroup_size(%len: index) {
  qd.grid.for_each %i to %len {
    // expected-error@+1 {{'qd.simt.log2_subgroup_size' op is not legal in a 'qd.grid.for_each', which hides the threads}}
    %x = qd.simt.log2_subgroup_size
  }
}

// -----

qd.grid.kernel @do_while_in_a_phase(%flag: memref<i32>, %blocks: index) {
  qd.grid.phase blocks(%blocks) threads(64) {
    // expected-error@+1 {{'qd.grid.do_while' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'qd.grid.phase': its grid-wide barriers would be lost}}
    qd.grid.do_while %flag : memref<i32> {
    }
  }
}

// -----

qd.grid.kernel @if_in_a_phase(%flag: memref<i32>, %blocks: index) {
  qd.grid.phase blocks(%blocks) threads(64) {
    // expected-error@+1 {{'qd.grid.if' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'qd.grid.phase': its grid-wide barriers would be lost}}
    qd.grid.if %flag : memref<i32> {
    }
  }
}

// -----

qd.grid.kernel @if_holds_steps(%flag: memref<i32>, %v: i32) {
  qd.grid.if %flag : memref<i32> {
    // expected-error@+1 {{'memref.store' op is not legal at the top level of a 'qd.grid.if': only phases, algorithms, 'qd.grid.do_while', 'qd.grid.if' and arithmetic that the host can evaluate are}}
    memref.store %v, %flag[] : memref<i32>
  }
}

// -----

qd.grid.kernel @if_of_two_words() {
  %words = qd.grid.control : memref<2xi32>
  // expected-error@+1 {{'qd.grid.if' op 'condition' must hold one element, as 'memref<i32>' or 'memref<1xi32>' does, but is 'memref<2xi32>': 'qd.grid.view' makes a buffer of one element of a longer one}}
  qd.grid.if %words : memref<2xi32> {
  }
}

// -----

qd.grid.kernel @if_of_many_words(%words: memref<?xi32>) {
  // expected-error@+1 {{'qd.grid.if' op 'condition' must hold one element, as 'memref<i32>' or 'memref<1xi32>' does, but is 'memref<?xi32>': 'qd.grid.view' makes a buffer of one element of a longer one}}
  qd.grid.if %words : memref<?xi32> {
  }
}

// -----

qd.grid.kernel @do_while_flag(%flag: memref<?xi32>) {
  // expected-error@+1 {{'qd.grid.do_while' op 'flag' must hold one element, as 'memref<i32>' or 'memref<1xi32>' does, but is 'memref<?xi32>': 'qd.grid.view' makes a buffer of one element of a longer one}}
  qd.grid.do_while %flag : memref<?xi32> {
  }
}

// -----

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

qd.grid.kernel @launch_of_nothing(%blocks: index) {
  // expected-error@+1 {{'qd.grid.launch' op 'body' is not a function of this module}}
  qd.grid.launch 0 @body blocks(%blocks)
}

// -----

func.func private @body() {
  return
}
qd.grid.kernel @launch_of_a_function(%blocks: index) {
  // expected-error@+1 {{'qd.grid.launch' op 'body' has no 'qd.threads' attribute: not an outlined body}}
  qd.grid.launch 0 @body blocks(%blocks)
}

// -----

// expected-error@+1 {{'func.func' op 'qd.threads' must be from 1 to 1024, but is 1025}}
func.func private @body() attributes {qd.threads = 1025 : i64} {
  return
}

// -----

// expected-error@+1 {{'func.func' op 'qd.threads' must be an integer, but is "many"}}
func.func private @body() attributes {qd.threads = "many"} {
  return
}

// -----

func.func private @body(%a: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  return
}
qd.grid.kernel @launch_arguments(%blocks: index) {
  // expected-error@+1 {{'qd.grid.launch' op passes ('index') to 'body', which takes ('memref<?xf32>')}}
  qd.grid.launch 0 @body blocks(%blocks) args(%blocks : index)
}

// -----

func.func private @body() attributes {qd.threads = 64 : i64} {
  return
}
qd.grid.kernel @launch_before_another(%blocks: index) {
  qd.grid.launch 0 @body blocks(%blocks)
  // expected-error@+1 {{'qd.grid.launch' op waits for launch 2, which does not come before it}}
  qd.grid.launch 1 @body blocks(%blocks) after [0, 2]
  qd.grid.launch 2 @body blocks(%blocks)
}

// -----

func.func private @body() attributes {qd.threads = 64 : i64} {
  return
}
qd.grid.kernel @launch_after_itself(%blocks: index) {
  qd.grid.launch 0 @body blocks(%blocks)
  // expected-error@+1 {{'qd.grid.launch' op waits for launch 1, which does not come before it}}
  qd.grid.launch 1 @body blocks(%blocks) after [0, 1]
}

// -----

// A loop's launches are the kernel's.
func.func private @body() attributes {qd.threads = 64 : i64} {
  return
}
qd.grid.kernel @launch_in_a_loop(%blocks: index, %flag: memref<i32>) {
  // expected-note@+1 {{the other launch}}
  qd.grid.launch 0 @body blocks(%blocks)
  qd.grid.do_while %flag : memref<i32> {
    // expected-error@+1 {{'qd.grid.launch' op has the id 0 of another launch of this kernel}}
    qd.grid.launch 0 @body blocks(%blocks)
  }
}

// -----

func.func private @body() attributes {qd.threads = 64 : i64} {
  return
}
qd.grid.kernel @launch_twice(%blocks: index) {
  // expected-note@+1 {{the other launch}}
  qd.grid.launch 3 @body blocks(%blocks)
  // expected-error@+1 {{'qd.grid.launch' op has the id 3 of another launch of this kernel}}
  qd.grid.launch 3 @body blocks(%blocks)
}

// -----

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

qd.grid.kernel @fill_in_a_phase(%a: memref<?xi32>, %i: index) {
  qd.grid.phase blocks(%i) threads(64) {
    %x = arith.constant 0 : i32
    // expected-error@+1 {{'qd.grid.fill' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'qd.grid.phase': its grid-wide barriers would be lost}}
    qd.grid.fill %a[%i to %i] = %x : memref<?xi32>
  }
}

// -----

qd.grid.kernel @fill_value(%a: memref<?xi32>, %i: index, %x: f32) {
  // expected-error@+1 {{'qd.grid.fill' op failed to verify that value's type is the buffer's element type}}
  "qd.grid.fill"(%a, %i, %i, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (memref<?xi32>, index, index, f32) -> ()
}

// -----

qd.grid.kernel @fill_of_all(%a: memref<?xi32>, %x: i32) {
  // expected-error@+1 {{'qd.grid.fill' op must have two bounds for a buffer of rank 1 and none for one of rank 0, but fills 'memref<?xi32>'}}
  qd.grid.fill %a = %x : memref<?xi32>
}

// -----

qd.grid.kernel @fill_of_part_of_one(%a: memref<i32>, %i: index, %x: i32) {
  // expected-error@+1 {{'qd.grid.fill' op must have two bounds for a buffer of rank 1 and none for one of rank 0, but fills 'memref<i32>'}}
  qd.grid.fill %a[%i to %i] = %x : memref<i32>
}

// -----

qd.grid.kernel @fill_of_one_bound(%a: memref<?xi32>, %i: index, %x: i32) {
  // expected-error@+1 {{'qd.grid.fill' op must have two bounds for a buffer of rank 1 and none for one of rank 0, but fills 'memref<?xi32>'}}
  "qd.grid.fill"(%a, %i, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (memref<?xi32>, index, i32) -> ()
}

// -----

func.func @view_without_a_size(%s: memref<?xi32>, %i: index) {
  // expected-error@+1 {{'qd.grid.view' op must have a size for a result of rank 1 or 2 and none for one of rank 0, but makes 'memref<?xi32>'}}
  %0 = qd.grid.view %s[%i] : memref<?xi32> to memref<?xi32>
  return
}

// -----

func.func @view_of_one_with_a_size(%s: memref<?xi32>, %i: index) {
  // expected-error@+1 {{'qd.grid.view' op must have a size for a result of rank 1 or 2 and none for one of rank 0, but makes 'memref<i32>'}}
  %0 = qd.grid.view %s[%i] [%i] : memref<?xi32> to memref<i32>
  return
}

// -----

qd.grid.kernel @rows_of_any_extent(%a: memref<?xi32>, %n: index) {
  // expected-error@+1 {{'qd.grid.view' op result has rows of an extent that is not known: 'memref<?x?xi32>'}}
  %0 = qd.grid.view %a[%n] [%n] : memref<?xi32> to memref<?x?xi32>
}

// -----

func.func @narrowing_view(%s: memref<?xi64>, %i: index) {
  // expected-error@+1 {{'qd.grid.view' op result holds 'i32', narrower than the source's 'i64'}}
  %0 = qd.grid.view %s[%i] [%i] : memref<?xi64> to memref<?xi32>
  return
}

// -----

func.func @view_space(%s: memref<?xi32>, %i: index) {
  // expected-error@+1 {{'qd.grid.view' op source and result are in different memory spaces}}
  %0 = qd.grid.view %s[%i] [%i] : memref<?xi32> to memref<?xi32, 3>
  return
}

// -----

func.func @view_layout(%s: memref<?xi32, strided<[2]>>, %i: index) {
  // expected-error@+1 {{'qd.grid.view' op source and result must be contiguous}}
  %0 = qd.grid.view %s[%i] [%i] : memref<?xi32, strided<[2]>> to memref<?xi32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

func.func @atomic_kind(%a: memref<?xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{'qd.grid.atomic.rmw' op kind 'or' does not combine elements of type 'f32'}}
  %0 = qd.grid.atomic.rmw or %x, %a[%i] device relaxed : memref<?xf32>
  return
}

// -----

func.func @atomic_no_kind(%a: memref<?xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{expected a combining kind}}
  %0 = qd.grid.atomic.rmw %x, %a[%i] device relaxed : memref<?xf32>
  return
}

// -----

func.func @atomic_unknown_kind(%a: memref<?xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{unknown combining kind 'assign': expected add, mul, minsi, minui, minnumf, maxsi, maxui, maxnumf, and, or or xor}}
  %0 = qd.grid.atomic.rmw assign %x, %a[%i] device relaxed : memref<?xf32>
  return
}

// -----

func.func @atomic_element(%a: memref<?xi32>, %i: index, %x: f32) {
  // expected-error@+1 {{'qd.grid.atomic.rmw' op accesses a 'f32', but 'memref' holds 'i32'}}
  %0 = "qd.grid.atomic.rmw"(%x, %a, %i) {kind = #qd.kind<add>, scope = #qd.scope<device>, order = #qd.order<relaxed>} : (f32, memref<?xi32>, index) -> f32
  return
}

// -----

func.func @atomic_width(%a: memref<?xi24>, %i: index) {
  // expected-error@+1 {{'qd.grid.atomic.load' op result #0 must be i1, i8, i16, i32, i64, f16, bf16, f32 or f64, but got 'i24'}}
  %0 = qd.grid.atomic.load %a[%i] device relaxed : memref<?xi24>
  return
}

// -----

func.func @atomic_indices(%a: memref<?x4xi32>, %i: index, %x: i32) {
  // expected-error@+1 {{'qd.grid.atomic.rmw' op has 1 indices for a memref of rank 2}}
  %0 = qd.grid.atomic.rmw add %x, %a[%i] device relaxed : memref<?x4xi32>
  return
}

// -----

func.func @atomic_scope(%a: memref<?xi32>, %i: index, %x: i32) {
  // expected-error@+1 {{unknown scope 'system': expected subgroup, block or device}}
  %0 = qd.grid.atomic.rmw add %x, %a[%i] system relaxed : memref<?xi32>
  return
}

// -----

func.func @atomic_order(%a: memref<?xi32>, %i: index, %x: i32) {
  // expected-error@+1 {{unknown order 'seq_cst': expected relaxed, acquire, release or acq_rel}}
  %0 = qd.grid.atomic.rmw add %x, %a[%i] device seq_cst : memref<?xi32>
  return
}

// -----

func.func @load_order(%a: memref<?xi32>, %i: index) {
  // expected-error@+1 {{'qd.grid.atomic.load' op a load cannot have order 'release'}}
  %0 = qd.grid.atomic.load %a[%i] device release : memref<?xi32>
  return
}

// -----

func.func @store_order(%a: memref<?xi32>, %i: index, %x: i32) {
  // expected-error@+1 {{'qd.grid.atomic.store' op a store cannot have order 'acq_rel'}}
  qd.grid.atomic.store %x, %a[%i] device acq_rel : memref<?xi32>
  return
}

// -----

func.func @cas_float(%a: memref<?xf80>, %i: index, %x: f80) {
  // expected-error@+1 {{'qd.grid.atomic.cas' op operand #0 must be i1, i8, i16, i32, i64, f16, bf16, f32 or f64, but got 'f80'}}
  %0 = qd.grid.atomic.cas %x, %x, %a[%i] device relaxed : memref<?xf80>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

qd.grid.kernel @dispatch_to_nothing() {
  // expected-error@+1 {{'qd.grid.dispatch' op has no variants}}
  qd.grid.dispatch() {
  }
}

// -----

qd.grid.kernel @dispatch_body() {
  qd.grid.dispatch() {
    // expected-error@+1 {{'arith.constant' op is not legal in a 'qd.grid.dispatch': only 'qd.grid.variant' is}}
    %c = arith.constant 0 : i32
  }
}

// -----

qd.grid.kernel @dispatch_in_a_phase(%blocks: index) {
  qd.grid.phase blocks(%blocks) threads(64) {
    // expected-error@+1 {{'qd.grid.dispatch' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'qd.grid.phase': its grid-wide barriers would be lost}}
    qd.grid.dispatch() {
      qd.grid.variant @other
    }
  }
}

// -----

// expected-error@+1 {{'qd.grid.variant' op expects parent op 'qd.grid.dispatch'}}
qd.grid.variant @other

// -----

qd.grid.kernel @variant_of_nothing() {
  qd.grid.dispatch() {
    // expected-error@+1 {{'qd.grid.variant' op 'other' is not a kernel of this module}}
    qd.grid.variant @other
  }
}

// -----

qd.grid.kernel @other(%n: index) {
}
qd.grid.kernel @variant_arguments(%n: i32) {
  qd.grid.dispatch(%n : i32) {
    // expected-error@+1 {{'qd.grid.variant' op 'other' takes ('index'), but is dispatched with ('i32')}}
    qd.grid.variant @other
  }
}

// -----

qd.grid.kernel @itself() {
  qd.grid.dispatch() {
    // expected-error@+1 {{'qd.grid.variant' op 'itself' leads back to 'itself': a dispatch cannot be recursive}}
    qd.grid.variant @itself
  }
}

// -----

qd.grid.kernel @ping() {
  qd.grid.dispatch() {
    qd.grid.variant @pong
  }
}
qd.grid.kernel @pong() {
  qd.grid.dispatch() {
    // expected-error@+1 {{'qd.grid.variant' op 'ping' leads back to 'pong': a dispatch cannot be recursive}}
    qd.grid.variant @ping
  }
}

// -----

qd.grid.kernel @other() {
}
qd.grid.kernel @predicate_end() {
  qd.grid.dispatch() {
    // expected-error@+1 {{'qd.grid.variant' op predicate must end in a 'qd.yield' of one i1}}
    qd.grid.variant @other when {
      %c = arith.constant 0 : i32
      qd.yield %c : i32
    }
  }
}

// -----

qd.grid.kernel @other(%n: memref<i1>) {
}
qd.grid.kernel @predicate_reads(%n: memref<i1>) {
  qd.grid.dispatch(%n : memref<i1>) {
    qd.grid.variant @other when {
      // expected-error@+1 {{'memref.load' op is not legal in a variant's predicate: the host evaluates it from buffer lengths and scalar arguments}}
      %p = memref.load %n[] : memref<i1>
      qd.yield %p : i1
    }
  }
}

// -----

//===----------------------------------------------------------------------===//
// Swaps, workspace, subgroups of elements, buffers of several lengths
//===----------------------------------------------------------------------===//

qd.grid.kernel @swap_of_three(%flag: memref<i32>, %a: memref<?xi32>, %b: memref<?xi32>, %c: memref<?xi32>) {
  // expected-error@+1 {{'qd.grid.do_while' op 'swap' must list pairs of buffers, but lists 3}}
  qd.grid.do_while %flag : memref<i32> swap(%x = %a, %y = %b, %z = %c : memref<?xi32>, memref<?xi32>, memref<?xi32>) {
  }
}

// -----

qd.grid.kernel @twice(%flag: memref<i32>, %a: memref<?xi32>, %b: memref<?xi32>) {
  // expected-error@+1 {{'qd.grid.do_while' op 'swap' lists a buffer twice}}
  qd.grid.do_while %flag : memref<i32>
      swap(%x = %a, %y = %b, %u = %b, %v = %a : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>) {
  }
}

// -----

qd.grid.kernel @swap_of_types(%flag: memref<i32>, %a: memref<?xi32>, %b: memref<?xf32>) {
  // expected-error@+1 {{'qd.grid.do_while' op 'swap' exchanges a 'memref<?xi32>' and a 'memref<?xf32>', which must be of the same type}}
  qd.grid.do_while %flag : memref<i32> swap(%x = %a, %y = %b : memref<?xi32>, memref<?xf32>) {
  }
}

// -----

qd.grid.kernel @swap_by_another_name(%flag: memref<i32>, %a: memref<?xi32>, %b: memref<?xi32>, %len: index) {
  // expected-note@+1 {{the loop}}
  qd.grid.do_while %flag : memref<i32> swap(%x = %a, %y = %b : memref<?xi32>, memref<?xi32>) {
    qd.grid.for_each %i to %len {
      // expected-error@+1 {{'memref.load' op uses a buffer that the loop around it swaps: within the loop it has the name that 'swap' gives it}}
      %v = memref.load %a[%i] : memref<?xi32>
      memref.store %v, %y[%i] : memref<?xi32>
    }
  }
}

// -----

qd.grid.kernel @swap_without_names(%flag: memref<i32>, %a: memref<?xi32>, %b: memref<?xi32>) {
  // expected-error@+1 {{'qd.grid.do_while' op body takes (), but must take what 'swap' lists: ('memref<?xi32>', 'memref<?xi32>')}}
  "qd.grid.do_while"(%flag, %a, %b) ({
  ^body:
  }) : (memref<i32>, memref<?xi32>, memref<?xi32>) -> ()
}

// -----

qd.grid.kernel @scratch_in_a_phase(%blocks: index) {
  qd.grid.phase blocks(%blocks) threads(64) {
    // expected-error@+1 {{'qd.grid.scratch' op is only legal at the top level of a 'qd.grid.kernel' or directly in a 'qd.grid.do_while' or a 'qd.grid.if', not in 'qd.grid.phase'}}
    %w = qd.grid.scratch : memref<1xf32>
  }
}

// -----

qd.grid.kernel @scratch_of_any_length() {
  // expected-error@+1 {{'qd.grid.scratch' op is of type 'memref<?xf32>', but must be some words of the device's memory: memref<Nxi32>, N from 1}}
  %w = qd.grid.scratch : memref<?xf32>
}

// -----

// Elements of 64 bits are two words.
qd.grid.kernel @too_much_scratch() {
  %c = qd.grid.control : memref<24xi32>
  // expected-error@+1 {{'qd.grid.scratch' op makes 1026 control words in this kernel, which has at most 1024}}
  %w = qd.grid.scratch : memref<501xf64>
}

// -----

qd.grid.kernel @no_threads_of_elements(%len: index) {
  // expected-error@+1 {{'qd.grid.for_each' op 'threads' must be from 1 to 1024, but is 0}}
  qd.grid.for_each %i to %len threads(0) {
  }
}

// -----

qd.grid.kernel @threads_that_fill_no_subgroups(%len: index) {
  // expected-error@+1 {{'qd.grid.for_each' op 'threads' must be a multiple of 64 with 'subgroups(full)', but is 96: 'subgroups(partial)' is for others}}
  qd.grid.for_each %i to %len threads(96) subgroups(full) {
  }
}

// -----

qd.grid.kernel @fill_of_subgroups(%len: index) {
  // expected-error@+1 {{'subgroups' must be full or partial, but is 'some'}}
  qd.grid.for_each %i to %len subgroups(some) {
  }
}

// -----

// Which subgroup it is is no one's business, and a block is not promised.
qd.grid.kernel @subgroup_number(%len: index) {
  qd.grid.for_each %i to %len subgroups(partial) {
    %lane = qd.simt.lane_id
    // expected-error@+1 {{'qd.simt.subgroup_id' op is not legal in a 'qd.grid.for_each', which hides the threads that run its body: use its index, or a 'qd.grid.phase'}}
    %s = qd.simt.subgroup_id
  }
}

// -----

qd.grid.kernel @block_of_elements(%len: index) {
  qd.grid.for_each %i to %len subgroups(full) {
    // expected-error@+1 {{'qd.simt.block.sync' op is not legal in a 'qd.grid.for_each', whose body is not run by every thread: use a 'qd.grid.phase'}}
    qd.simt.block.sync
  }
}

// -----

func.func private @body(%a: memref<?x?xf32>) attributes {qd.threads = 64 : i64} {
  return
}
qd.grid.kernel @two_lengths(%a: memref<?x?xf32>, %blocks: index) {
  // expected-error@+1 {{'qd.grid.launch' op passes a 'memref<?x?xf32>' as argument 0, but a body takes contiguous buffers of which only the first dimension may be dynamic: 'qd-expand-views' makes them}}
  qd.grid.launch 0 @body blocks(%blocks) args(%a : memref<?x?xf32>)
}
