// What the host cannot compute for a launch is an error with the place of the step in the source.

// DEFINE: %{target} = cpu
// DEFINE: %{run} = not qd-run %s --target=%{target} --arg 'a=iota[4]'
// DEFINE: %{view} = %{run} --entry=view --arg goes_on=1 --arg n=8 2>&1 | FileCheck %s --check-prefix=VIEW

// RUN: %{view}
// REDEFINE: %{target} = vulkan:1.3
// RUN: %if vulkan %{ %{view} %}
// REDEFINE: %{target} = cpu
// VIEW: qd-run: kernel 'view': 'set' needs 64 bytes of argument 'a', which has 16, at {{.*}}host-errors.mlir:[[#@LINE+6]]:5
qd.grid.kernel @view(%a: memref<?xi32> {qd.name = "a"}, %goes_on: memref<i32> {qd.name = "goes_on"},
                     %n: index {qd.name = "n"}) {
  %one = arith.constant 1 : index
  %view = memref.subview %a[%n] [%n] [1] : memref<?xi32> to memref<?xi32, strided<[1], offset: ?>>
  qd.grid.do_while %goes_on : memref<i32> {
    qd.grid.phase "set" blocks(%one) threads(64) {
      %i = qd.simt.block.thread_id
      %x = arith.constant 3 : i32
      memref.store %x, %view[%i] : memref<?xi32, strided<[1], offset: ?>>
      memref.store %x, %goes_on[] : memref<i32>
    }
  }
}

// RUN: %{run} --entry=blocks --arg n=-3 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: qd-run: kernel 'blocks': 'one' has a negative number of blocks, -2, at {{.*}}host-errors.mlir:[[#@LINE+7]]:3
// RUN: %{run} --entry=blocks --arg n=0 2>&1 | FileCheck %s --check-prefix=DIVISION
// DIVISION: qd-run: kernel 'blocks': one: division by zero, at {{.*}}host-errors.mlir:[[#@LINE+5]]:3
qd.grid.kernel @blocks(%a: memref<?xi32> {qd.name = "a"}, %n: index {qd.name = "n"}) {
  %six = arith.constant 6 : index
  %blocks = arith.divsi %six, %n : index

  qd.grid.phase "one" blocks(%blocks) threads(1) {
    %zero = arith.constant 0 : index
    %x = arith.constant 3 : i32
    memref.store %x, %a[%zero] : memref<?xi32>
  }
}

// RUN: %{run} --entry=dispatches --arg n=5 2>&1 | FileCheck %s --check-prefix=FILL
// FILL: qd-run: kernel 'fills': 'fill' needs 20 bytes of argument 'a', which has 16, at {{.*}}host-errors.mlir:[[#@LINE+5]]:3
qd.grid.kernel @fills(%a: memref<?xi32> {qd.name = "a"}, %n: index {qd.name = "n"}) {
  %zero = arith.constant 0 : index
  %x = arith.constant 7 : i32

  qd.grid.fill %a[%zero to %n] = %x : memref<?xi32>
}

// RUN: %{run} --entry=dispatches --arg n=6 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: qd-run: kernel 'dispatches': none of the variants fills is eligible, at {{.*}}host-errors.mlir:[[#@LINE+3]]:3
qd.grid.kernel @dispatches(%a: memref<?xi32> {qd.name = "a"}, %n: index {qd.name = "n"}) {

  qd.grid.dispatch(%a, %n : memref<?xi32>, index) {
    qd.grid.variant @fills when {
      %most = arith.constant 5 : index
      %is_less = arith.cmpi sle, %n, %most : index
      qd.yield %is_less : i1
    }
  }
}
