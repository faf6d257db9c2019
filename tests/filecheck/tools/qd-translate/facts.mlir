// What a plan says of arguments: what is done with them, what they are for, and
// whether they may share memory.

// RUN: qd-translate %s --target=cpu --emit=plan | FileCheck %s
// RUN: qd-translate %s --target=nvptx:sm_90 --emit=plan | FileCheck %s

// In the order of the kernels below.
//      CHECK: "name": "sum",
//      CHECK: "name": "in",
//      CHECK: "access": "read",
// CHECK-NEXT: "role": "data",
//      CHECK: "name": "out",
//      CHECK: "access": "write",
// CHECK-NEXT: "role": "data",
//      CHECK: "name": "scratch",
//      CHECK: "access": "read_write",
// CHECK-NEXT: "role": "scratch",
//      CHECK: "name": "n",
//      CHECK: "access": "read",
// CHECK-NEXT: "role": "count",
qd.grid.kernel @sum(%in: memref<?xi32> {qd.name = "in"}, %out: memref<1xi32> {qd.name = "out"},
    %scratch: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce add ins(%in : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// A buffer that other steps read is data, though an algorithm uses it as workspace.
//      CHECK: "name": "sorted",
//      CHECK: "name": "keys",
//      CHECK: "access": "read_write",
// CHECK-NEXT: "role": "data",
//      CHECK: "name": "tmp",
// CHECK-NEXT: "kind": "buffer",
//      CHECK: "role": "scratch",
//      CHECK: "name": "scratch",
//      CHECK: "role": "data",
qd.grid.kernel @sorted(%keys: memref<?xi32> {qd.name = "keys"}, %tmp: memref<?xi32> {qd.name = "tmp"},
    %scratch: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}, %out: memref<1xi32>) {
  qd.algo.sort keys(%keys, %tmp : memref<?xi32>, memref<?xi32>) scratch(%scratch : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 2
  %one = arith.constant 1 : index
  qd.grid.for_each %i to %one {
    %x = memref.load %scratch[%i] : memref<?xi32>
    memref.store %x, %out[%i] : memref<1xi32>
  }
}

// Through views, a loop, a fill and another kernel; a scalar is read.
//      CHECK: "name": "main",
//      CHECK: "name": "a",
//      CHECK: "access": "read",
// CHECK-NEXT: "role": "data",
// CHECK-NEXT: "may_alias": true,
//      CHECK: "name": "b",
//      CHECK: "access": "write",
// CHECK-NEXT: "role": "data",
// CHECK-NEXT: "may_alias": true,
//      CHECK: "name": "flag",
//      CHECK: "access": "read_write",
// CHECK-NEXT: "role": "data",
// CHECK-NEXT: "is_input": true
//      CHECK: "name": "filled",
//      CHECK: "access": "write",
// CHECK-NEXT: "role": "data",
//      CHECK: "name": "own",
//      CHECK: "role": "scratch",
//      CHECK: "name": "nothing",
//      CHECK: "access": "read",
//      CHECK: "name": "x",
//      CHECK: "access": "read",
qd.grid.kernel @main(%a: memref<?xi32> {qd.name = "a", qd.may_alias}, %b: memref<?xi32> {qd.name = "b", qd.may_alias},
    %flag: memref<i32> {qd.name = "flag"}, %filled: memref<?xi32> {qd.name = "filled"}, %own: memref<?xi32> {qd.name = "own", qd.scratch},
    %nothing: memref<?xi32> {qd.name = "nothing"}, %x: i32 {qd.name = "x"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = memref.dim %nothing, %zero : memref<?xi32>
  %half = qd.grid.view %a[%one] [%one] : memref<?xi32> to memref<?xi32>
  qd.grid.dispatch(%half, %b, %x : memref<?xi32>, memref<?xi32>, i32) {
    qd.grid.variant @copy
  }
  qd.grid.fill %filled[%zero to %n] = %x : memref<?xi32>
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.for_each %i to %one {
      %old = memref.load %flag[] : memref<i32>
      %c1 = arith.constant 1 : i32
      %less = arith.subi %old, %c1 : i32
      memref.store %less, %flag[] : memref<i32>
    }
  }
}

qd.grid.kernel @copy(%from: memref<?xi32>, %to: memref<?xi32>, %x: i32) {
  %zero = arith.constant 0 : index
  %n = memref.dim %from, %zero : memref<?xi32>
  qd.grid.for_each %i to %n {
    %y = memref.load %from[%i] : memref<?xi32>
    %z = arith.addi %x, %y : i32
    memref.store %z, %to[%i] : memref<?xi32>
  }
}
