// Arguments that are rows of others: what is written to one is read from the other, on the cpu and in the interpreter.
// RUN: qd-run %s --entry=numbered --arg 'to=const(9)[6]' --arg 'from=rows(to)[1:4]' --arg 'copy=zeros[3]' --print to --print from --print copy | FileCheck %s
// RUN: qd-run %s --entry=numbered --interpret --arg 'to=const(9)[6]' --arg 'from=rows(to)[1:4]' --arg 'copy=zeros[3]' --print to --print from --print copy | FileCheck %s
// RUN: qd-run %s --entry=numbered --repeat 3 --arg 'to=rows(from)[:2]' --arg 'from=iota(start=5)[3]' --arg 'copy=zeros[3]' --print copy | FileCheck %s --check-prefix=AGAIN
// RUN: not qd-run %s --entry=numbered --arg 'to=const(9)[6]' --arg 'from=rows(to)[4:7]' --arg 'copy=zeros[3]' 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not qd-run %s --entry=numbered --arg 'to=rows(from)' --arg 'from=rows(to)' --arg 'copy=zeros[3]' 2>&1 | FileCheck %s --check-prefix=TURN
// RUN: not qd-run %s --entry=numbered --arg 'to=const(9)[6]' --arg 'from=rows(to)' --arg 'copy=rows(from)' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not qd-run %s --entry=numbered --arg 'to=const(9)[6]' --arg 'from=iota[6]' --arg 'copy=rows(from)' 2>&1 | FileCheck %s --check-prefix=PROMISE

// CHECK: to = [0, 1, 2, 3, 4, 5]
// CHECK: from = [1, 2, 3]
// CHECK: copy = [1, 2, 3]
// AGAIN: copy = [0, 1, 7]
// MANY: --arg from=rows(to)[4:7]: 'to' has 6 rows
// TURN: the lengths of the arguments to, from of kernel 'numbered' depend on each other
// TWICE: --arg copy=rows(from): 'from' is itself rows of another argument: name that one
// PROMISE: 'from' overlaps argument 'copy', of which one is written
qd.grid.kernel @numbered(%to: memref<?xi32> {qd.may_alias, qd.name = "to"},
                         %from: memref<?xi32> {qd.may_alias, qd.name = "from"},
                         %copy: memref<?xi32> {qd.name = "copy"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %to, %c0 : memref<?xi32>
  %m = memref.dim %from, %c0 : memref<?xi32>
  qd.grid.for_each %i to %n {
    %v = arith.index_cast %i : index to i32
    memref.store %v, %to[%i] : memref<?xi32>
  }
  qd.grid.for_each %i to %m {
    %v = memref.load %from[%i] : memref<?xi32>
    memref.store %v, %copy[%i] : memref<?xi32>
  }
}
