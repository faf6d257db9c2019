// Integers to integer powers, of which the cpu had none; wide products and magnitudes of truth values, which Vulkan had not.
// RUN: qd-run %s --entry=powers --target=cpu --arg '0=[0, 1, 2, 3, -1, -2, -3, 7]' --print 0 | FileCheck %s
// RUN: qd-run %s --entry=powers --interpret --arg '0=[0, 1, 2, 3, -1, -2, -3, 7]' --print 0 | FileCheck %s
// RUN: qd-run %s --entry=truth --target=vulkan:1.3,subgroup=8 --arg '0=[0, 1, 2, 3]' --arg '1=zeros[4]' --print 1 | FileCheck %s --check-prefix=TRUTH
// RUN: qd-run %s --entry=truth --interpret --arg '0=[0, 1, 2, 3]' --arg '1=zeros[4]' --print 1 | FileCheck %s --check-prefix=TRUTH

// CHECK: 0 = [1, 1, 4, 27, -1, 0, 0, 823543]
qd.grid.kernel @powers(%a: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = math.ipowi %x, %x : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}

// TRUTH: 1 = [0, 2, 0, 2]
qd.grid.kernel @truth(%a: memref<?xi32>, %o: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %p = arith.trunci %x : i32 to i1
    %low, %high = arith.mului_extended %p, %p : i1
    %sum, %carry = arith.addui_extended %low, %p : i1, i1
    %either = arith.ori %carry, %high : i1
    %one = arith.extui %either : i1 to i32
    // Of one bit, −1 is the smallest number.
    %magnitude = math.absi %low : i1
    %other = arith.extui %magnitude : i1 to i32
    %y = arith.addi %one, %other : i32
    memref.store %y, %o[%i] : memref<?xi32>
  }
}
