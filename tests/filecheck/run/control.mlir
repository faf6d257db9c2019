// The host's steps between launches: loops over a flag on the device, fills, and kernels chosen by length. The cpu and
// the interpreter agree, and with a limit a loop that does not end is an error.

// DEFINE: %{how} = --target=cpu
// DEFINE: %{count} = qd-run %s --entry=count_down %{how} --arg steps=0 --arg flag
// DEFINE: %{fill} = qd-run %s --entry=fill_by_length %{how} --arg value=7 --print a -q --arg a

// RUN: %{count}=5 --print steps | FileCheck %s --check-prefix=FIVE
// RUN: %{count}=1 --print steps | FileCheck %s --check-prefix=ONE
// RUN: not %{count}=0 --max-iterations=100 2>&1 | FileCheck %s --check-prefix=NO-END --match-full-lines
// RUN: %{fill}=zeros[3] | FileCheck %s --check-prefix=SHORT
// RUN: %{fill}=zeros[4] | FileCheck %s --check-prefix=LONG
// RUN: not %{fill}=zeros[0] 2>&1 | FileCheck %s --check-prefix=NONE --match-full-lines

// REDEFINE: %{how} = --interpret
// RUN: %{count}=5 --print steps | FileCheck %s --check-prefix=FIVE
// RUN: %{count}=1 --print steps | FileCheck %s --check-prefix=ONE
// RUN: %{fill}=zeros[3] | FileCheck %s --check-prefix=SHORT
// RUN: %{fill}=zeros[4] | FileCheck %s --check-prefix=LONG

// FIVE: steps = 5
// ONE: steps = 1
// NO-END: qd-run: kernel 'count_down': a loop was still running after 100 iterations
qd.grid.kernel @count_down(%flag: memref<i32> {qd.name = "flag"}, %steps: memref<i32> {qd.name = "steps"}) {
  %c1 = arith.constant 1 : index
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.for_each "step" %i to %c1 {
      %one = arith.constant 1 : i32
      %left = memref.load %flag[] : memref<i32>
      %less = arith.subi %left, %one : i32
      memref.store %less, %flag[] : memref<i32>
      %done = memref.load %steps[] : memref<i32>
      %more = arith.addi %done, %one : i32
      memref.store %more, %steps[] : memref<i32>
    }
  }
}

// The first variant that is eligible runs: all of a long buffer is filled, and all but the last element of a short one.
// SHORT: a = [7, 7, 0]
// LONG: a = [7, 7, 7, 7]
// NONE: qd-run: kernel 'fill_by_length': none of the variants fill_all, fill_but_last is eligible, at {{.*}}control.mlir:[[#@LINE+2]]:3
qd.grid.kernel @fill_by_length(%a: memref<?xi32> {qd.name = "a"}, %value: i32 {qd.name = "value"}) {
  qd.grid.dispatch(%a, %value : memref<?xi32>, i32) {
    qd.grid.variant @fill_all when {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %len = memref.dim %a, %c0 : memref<?xi32>
      %long = arith.cmpi uge, %len, %c4 : index
      qd.yield %long : i1
    }
    qd.grid.variant @fill_but_last when {
      %c0 = arith.constant 0 : index
      %len = memref.dim %a, %c0 : memref<?xi32>
      %any = arith.cmpi ugt, %len, %c0 : index
      qd.yield %any : i1
    }
  }
}

qd.grid.kernel @fill_all(%a: memref<?xi32>, %value: i32) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.fill %a[%c0 to %len] = %value : memref<?xi32>
}

qd.grid.kernel @fill_but_last(%a: memref<?xi32>, %value: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  %last = arith.subi %len, %c1 : index
  qd.grid.fill %a[%c0 to %last] = %value : memref<?xi32>
}
