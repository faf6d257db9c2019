// The last thread of a block stores one element, and its number is computed in a vector of wider ones: LLVM's x86
// backend stored the wide one, and so the element behind it as well.
// RUN: qd-run %s --target=cpu,wave=8 --arg '0=const(1)[68]' --arg '1=zeros[4]' --print 1 | FileCheck %s
// RUN: qd-run %s --interpret --wave=8 --arg '0=const(1)[68]' --arg '1=zeros[4]' --print 1 | FileCheck %s

// CHECK: 1 = [63, 64, 1, 1]
qd.grid.kernel @main(%a: memref<?xi32>, %end: memref<?xi32>) {
  %one = arith.constant 1 : index
  qd.grid.phase blocks(%one) threads(65) {
    %t = qd.simt.block.thread_id
    %b = qd.simt.block.id
    %threads = arith.constant 65 : index
    %first = arith.muli %b, %threads : index
    %at = arith.addi %first, %t : index
    %number = arith.index_castui %at : index to i32
    memref.store %number, %a[%at] : memref<?xi32>
  }
  qd.grid.phase blocks(%one) threads(4) {
    %t = qd.simt.block.thread_id
    %first = arith.constant 63 : index
    %at = arith.addi %first, %t : index
    %value = memref.load %a[%at] : memref<?xi32>
    memref.store %value, %end[%t] : memref<?xi32>
  }
}
