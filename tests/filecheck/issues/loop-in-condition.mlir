// A loop whose condition takes a loop: upstream's serializer named the wrong block where values come from, and drivers crashed on the module.
// REQUIRES: vulkan, spirv-tools
// RUN: qd-translate %s --target=vulkan:1.3,subgroup=8 --emit=spirv -o %t.spv
// RUN: spirv-val --target-env vulkan1.3 %t.spv
// RUN: qd-run %s --target=vulkan:1.3 --arg '0=iota[64]' --print 0 | FileCheck %s
// RUN: qd-run %s --interpret --wave=8 --arg '0=iota[64]' --print 0 | FileCheck %s

// Each thread counts down from its number modulo 4 until the sum of what is left is 0, as often as that takes.
// CHECK: 0 = [0, 1, 3, 6, 0, 1, 3, 6,
qd.grid.kernel @main(%a: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xi32>
    %n = arith.andi %x, %three : i32
    %r:2 = scf.while (%left = %n, %total = %zero) : (i32, i32) -> (i32, i32) {
      %sum:2 = scf.while (%k = %left, %s = %zero) : (i32, i32) -> (i32, i32) {
        %more = arith.cmpi sgt, %k, %zero : i32
        scf.condition(%more) %k, %s : i32, i32
      } do {
      ^bb0(%k: i32, %s: i32):
        %less = arith.subi %k, %one : i32
        %add = arith.addi %s, %one : i32
        scf.yield %less, %add : i32, i32
      }
      %go = arith.cmpi sgt, %sum#1, %zero : i32
      %next = arith.addi %total, %sum#1 : i32
      scf.condition(%go) %left, %next : i32, i32
    } do {
    ^bb0(%left: i32, %total: i32):
      %less = arith.subi %left, %one : i32
      scf.yield %less, %total : i32, i32
    }
    memref.store %r#1, %a[%t] : memref<?xi32>
  }
}
