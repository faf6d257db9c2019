// A loop with a barrier in it that runs as often as an element says, in blocks of no full subgroups: the cpu took the loop for one that differs between subgroups, once only the lanes that are there loaded the element.
// RUN: qd-run %s --target=cpu,wave=8 --arg '0=const(3)[64]' --arg '1=iota[14]' --print 1 | FileCheck %s
// RUN: qd-run %s --interpret --wave=8 --arg '0=const(3)[64]' --arg '1=iota[14]' --print 1 | FileCheck %s

// Three times, each thread adds its neighbour's number to its own; the last one has itself for a neighbour.
// CHECK: 1 = [12, 20, 28, 36, 44, 52, 60, 68, 76, 83, 87, 88,
qd.grid.kernel @main(%times: memref<?xi32>, %a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(12) {
    %shared = qd.simt.block.shared : memref<12xi32, #gpu.address_space<workgroup>>
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %last = arith.constant 11 : index
    %t = qd.simt.block.thread_id
    %n = memref.load %times[%c0] : memref<?xi32>
    %turns = arith.index_cast %n : i32 to index
    %next = arith.addi %t, %c1 : index
    %neighbour = arith.minui %next, %last : index
    scf.for %i = %c0 to %turns step %c1 {
      %x = memref.load %a[%t] : memref<?xi32>
      memref.store %x, %shared[%t] : memref<12xi32, #gpu.address_space<workgroup>>
      qd.simt.block.sync
      %y = memref.load %shared[%neighbour] : memref<12xi32, #gpu.address_space<workgroup>>
      qd.simt.block.sync
      %sum = arith.addi %x, %y : i32
      memref.store %sum, %a[%t] : memref<?xi32>
    }
    %left = scf.while (%k = %n) : (i32) -> (i32) {
      %more = arith.cmpi sgt, %k, %zero : i32
      scf.condition(%more) %k : i32
    } do {
    ^bb0(%k: i32):
      %limit = memref.load %times[%c0] : memref<?xi32>
      %less = arith.subi %k, %one : i32
      %go = arith.cmpi sge, %limit, %k : i32
      scf.if %go {
        qd.simt.block.sync
      }
      scf.yield %less : i32
    }
  }
}
