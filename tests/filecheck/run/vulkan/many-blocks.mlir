// A dimension need not have more than 65,535 workgroups; a launch may. Each block adds its number, and its number times
// the number of blocks, to what all have.

// REQUIRES: vulkan
// RUN: qd-run %s --target=vulkan:1.3 --arg sums=[0,0] --print sums | FileCheck %s
// RUN: qd-run %s --target=cpu --arg sums=[0,0] --print sums | FileCheck %s

// 70,001 blocks are a row and 4,466 more: the sum of their numbers is 2,450,035,000, and each knows how many there are.
// CHECK: sums = [2450035000, 171504900035000]
qd.grid.kernel @main(%sums: memref<?xi64> {qd.name = "sums"}) {
  %blocks = arith.constant 70001 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %thread = qd.simt.block.thread_id
    %first = arith.cmpi eq, %thread, %c0 : index
    scf.if %first {
      %id = qd.simt.block.id
      %all = qd.simt.grid.dim
      %number = arith.index_cast %id : index to i64
      %product = arith.muli %id, %all : index
      %wide = arith.index_cast %product : index to i64
      %0 = qd.grid.atomic.rmw add %number, %sums[%c0] device relaxed : memref<?xi64>
      %1 = qd.grid.atomic.rmw add %wide, %sums[%c1] device relaxed : memref<?xi64>
    }
  }
}
