// Functions have the same results wherever a body calls them: ops of ours, collectives, shared arrays, buffers as arguments,
// several results, calls of calls. A function need not be called.

// DEFINE: %{how} = --target=cpu
// DEFINE: %{bits} = qd-run %s %{how} --entry=bits --arg 'a=[1, 6, -1, 0, 64]' --arg hi=zeros[5] --arg lo=zeros[5] --print hi --print lo -q
// DEFINE: %{rows} = qd-run %s %{how} --entry=rows --arg a=iota[128] --arg out=zeros[2] --print out -q
// DEFINE: %{pairs} = qd-run %s %{how} --entry=pairs --arg a=iota[64] --arg o=zeros[64] --print o -q
// DEFINE: %{branch} = qd-run %s %{how} --entry=branch --arg a=iota[64] --arg limit=1 --print o -q

// RUN: %{bits} | FileCheck %s --check-prefix=BITS
// RUN: %{rows} | FileCheck %s --check-prefix=ROWS
// RUN: %{pairs} | FileCheck %s --check-prefix=PAIRS
// RUN: %{branch} | FileCheck %s --check-prefix=BRANCH

// REDEFINE: %{how} = --interpret
// RUN: %{bits} | FileCheck %s --check-prefix=BITS
// RUN: %{rows} | FileCheck %s --check-prefix=ROWS
// RUN: %{pairs} | FileCheck %s --check-prefix=PAIRS
// RUN: %{branch} | FileCheck %s --check-prefix=BRANCH

// BITS: hi = [0, 2, 31, -1, 6]
// BITS: lo = [0, 1, 0, -1, 6]
func.func @msb(%x: i32) -> i32 {
  %c31 = arith.constant 31 : i32
  %z = qd.math.clz %x : i32
  %r = arith.subi %c31, %z : i32
  return %r : i32
}
func.func private @both(%x: i32) -> (i32, i32) {
  %one = arith.constant 1 : i32
  %h = func.call @msb(%x) : (i32) -> i32
  %f = qd.math.ffs %x : i32
  %l = arith.subi %f, %one : i32
  return %h, %l : i32, i32
}
qd.grid.kernel @bits(%a: memref<?xi32> {qd.name = "a"}, %hi: memref<?xi32> {qd.name = "hi"}, %lo: memref<?xi32> {qd.name = "lo"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each %i to %n {
    %m = memref.load %a[%i] : memref<?xi32>
    %h, %l = func.call @both(%m) : (i32) -> (i32, i32)
    memref.store %h, %hi[%i] : memref<?xi32>
    memref.store %l, %lo[%i] : memref<?xi32>
  }
}

// The sum of a row by way of the block's memory: two calls, two arrays.
// ROWS: out = [2016, 6112]
func.func private @row(%a: memref<?xi32>, %from: index) -> i32 {
  %shared = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
  %c63 = arith.constant 63 : index
  %t = qd.simt.block.thread_id
  %at = arith.addi %from, %t : index
  %v = memref.load %a[%at] : memref<?xi32>
  memref.store %v, %shared[%t] : memref<64xi32, #gpu.address_space<workgroup>>
  qd.simt.block.sync
  %other = arith.subi %c63, %t : index
  %w = memref.load %shared[%other] : memref<64xi32, #gpu.address_space<workgroup>>
  %sum = qd.simt.block.reduce_all add %w : i32
  return %sum : i32
}
qd.grid.kernel @rows(%a: memref<?xi32> {qd.name = "a"}, %out: memref<2xi32> {qd.name = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  qd.grid.phase "rows" blocks(%c1) threads(64) {
    %t = qd.simt.block.thread_id
    %first = func.call @row(%a, %c0) : (memref<?xi32>, index) -> i32
    %second = func.call @row(%a, %c64) : (memref<?xi32>, index) -> i32
    %is_first = arith.cmpi eq, %t, %c0 : index
    scf.if %is_first {
      memref.store %first, %out[%c0] : memref<2xi32>
      memref.store %second, %out[%c1] : memref<2xi32>
    }
  }
}

// Lanes with their neighbours, and a function that stores.
// PAIRS: o = [1, 1, 5, 5, 9, 9,
func.func private @sum_of_pair(%v: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %o = qd.simt.shuffle xor %v, %c1 : i32
  %r = arith.addi %v, %o : i32
  return %r : i32
}
func.func private @store(%v: i32, %o: memref<?xi32>) {
  %t = qd.simt.block.thread_id
  memref.store %v, %o[%t] : memref<?xi32>
  return
}
func.func private @unused(%v: i32) -> i32 {
  %r = qd.simt.reduce_all add %v : i32
  return %r : i32
}
qd.grid.kernel @pairs(%a: memref<?xi32> {qd.name = "a"}, %o: memref<64xi32> {qd.name = "o"}) {
  %c1 = arith.constant 1 : index
  qd.grid.phase "pairs" blocks(%c1) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %r = func.call @sum_of_pair(%v) : (i32) -> i32
    %any = memref.cast %o : memref<64xi32> to memref<?xi32>
    func.call @store(%r, %any) : (i32, memref<?xi32>) -> ()
  }
}

// A call in a branch that the whole block takes, of a function with an array of the block's and one of the thread's.
// BRANCH: o = [2016, 2017, 2018, 2019,
func.func private @total(%v: i32) -> i32 {
  %shared = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
  %own = memref.alloca() : memref<2xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = qd.simt.block.thread_id
  memref.store %v, %shared[%t] : memref<64xi32, #gpu.address_space<workgroup>>
  memref.store %v, %own[%c1] : memref<2xi32>
  qd.simt.block.sync
  %w = memref.load %shared[%t] : memref<64xi32, #gpu.address_space<workgroup>>
  %sum = qd.simt.block.reduce_all add %w : i32
  memref.store %sum, %own[%c0] : memref<2xi32>
  %x = memref.load %own[%c0] : memref<2xi32>
  %y = memref.load %own[%c1] : memref<2xi32>
  %r = arith.addi %x, %y : i32
  return %r : i32
}
qd.grid.kernel @branch(%a: memref<?xi32> {qd.name = "a"}, %o: memref<64xi32> {qd.name = "o"}, %limit: index {qd.name = "limit"}) {
  %c1 = arith.constant 1 : index
  qd.grid.phase "branch" blocks(%c1) threads(64) {
    %b = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %is_below = arith.cmpi ult, %b, %limit : index
    scf.if %is_below {
      %r = func.call @total(%v) : (i32) -> i32
      memref.store %r, %o[%t] : memref<64xi32>
    }
  }
}
