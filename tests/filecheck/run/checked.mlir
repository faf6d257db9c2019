// A fault is an error of the tool, which names the kernel, what does not hold, where, the thread and the numbers.

// RUN: not qd-run %s --entry=gather --target=cpu,checked --arg at=iota[5] --arg 'a=const(1)[4]' 2>&1 | FileCheck %s --check-prefix=FAULT
// FAULT: qd-run: kernel 'gather': "index 0 of 'memref.load' is within the extent" does not hold at {{.*}}checked.mlir:14:10, in thread 4 of block 0 of phase 'gather': 4 < 4 is false

// RUN: qd-run %s --entry=gather --target=cpu,checked --arg at=iota[4] --arg 'a=const(1)[4]' --print at | FileCheck %s --check-prefix=WELL
// WELL: at = [1, 1, 1, 1]
qd.grid.kernel @gather(%at: memref<?xi32> {qd.name = "at"}, %a: memref<?xi32> {qd.name = "a"}) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %at, %c0 : memref<?xi32>
  qd.grid.for_each "gather" %i to %len {
    %at32 = memref.load %at[%i] : memref<?xi32>
    %index = arith.index_cast %at32 : i32 to index
    %x = memref.load %a[%index] : memref<?xi32>
    memref.store %x, %at[%i] : memref<?xi32>
  }
}

// RUN: not qd-run %s --entry=less --target=cpu --arg a=iota[100] 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: not qd-run %s --entry=less --interpret --arg a=iota[100] 2>&1 | FileCheck %s --check-prefix=INTERPRET
// ASSERT: qd-run: kernel 'less': "less" does not hold at {{.*}}checked.mlir:32:5, in thread {{[0-9]+}} of block 0 of phase 'less': {{[0-9]+}} < 60 is false
// INTERPRET: checked.mlir:32:5: error: 'cf.assert' fails: less
qd.grid.kernel @less(%a: memref<?xi32> {qd.name = "a"}) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each "less" %i to %len {
    %bound = arith.constant 60 : i32
    %x = memref.load %a[%i] : memref<?xi32>
    %less = arith.cmpi slt, %x, %bound : i32
    // It is known by the place of the op.

    cf.assert %less, "less"
  }
}

// An extent below 0 has no elements on a device.

// RUN: qd-run %s --entry=less_than_none --target=cpu --arg a=iota[3] --arg m=4 --print a | FileCheck %s --check-prefix=NONE
// NONE: a = [0, 1, 2]
// RUN: not qd-run %s --entry=less_than_none --target=cpu,checked --arg a=iota[3] --arg m=4 2>&1 | FileCheck %s --check-prefix=EXTENT
// EXTENT: qd-run: kernel 'less_than_none': "the extent of 'qd.grid.for_each' is not negative" does not hold at {{.*}}: -1 ≥ 0 is false
// RUN: not qd-run %s --entry=less_than_none --interpret --arg a=iota[3] --arg m=4 2>&1 | FileCheck %s --check-prefix=BELOW
// BELOW: error: 'qd.grid.for_each' has a negative extent, -1
qd.grid.kernel @less_than_none(%a: memref<?xi32> {qd.name = "a"}, %m: index {qd.name = "m"}) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  %fewer = arith.subi %len, %m : index
  qd.grid.for_each %i to %fewer {
    %zero = arith.constant 7 : i32
    memref.store %zero, %a[%i] : memref<?xi32>
  }
}

// A fault in a variant names the kernel that was launched, too.

// RUN: not qd-run %s --entry=shared --target=cpu,checked --arg a=iota[5] --arg 'b=const(1)[4]' 2>&1 | FileCheck %s --check-prefix=VARIANT
// VARIANT: qd-run: kernel 'shared', variant 'shared_disjoint': "index 0 of 'memref.load' is within the extent" does not hold at {{.*}}: 4 < 4 is false
qd.grid.kernel @shared(%a: memref<?xi32> {qd.name = "a", qd.may_alias}, %b: memref<?xi32> {qd.name = "b", qd.may_alias}) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each "copy" %i to %len {
    %x = memref.load %b[%i] : memref<?xi32>
    memref.store %x, %a[%i] : memref<?xi32>
  }
}
