// A kernel at any level above the target's is valid input: the printed IR compiles, and the interpreter
// runs it, at the smallest and the largest subgroup.

// DEFINE: %{level} = algo
// DEFINE: %{data} = -q --arg 'a=iota[1000]' --arg 'odd=zeros[1000]' --arg 'kept=zeros[1000]' --arg 'scratch=poison[1004]' \
// DEFINE:   --arg n=999 --print 'kept[:num]' --print sum
// DEFINE: %{again} = qd-opt %s --to=%{level} -o %t.mlir && \
// DEFINE:   qd-run %t.mlir --target=cpu,wave=4 %{data} | FileCheck %s --check-prefix=RESULT && \
// DEFINE:   qd-run %t.mlir --target=cpu,wave=64 %{data} | FileCheck %s --check-prefix=RESULT && \
// DEFINE:   qd-run %t.mlir --interpret --wave=4 %{data} | FileCheck %s --check-prefix=RESULT && \
// DEFINE:   qd-run %t.mlir --interpret --wave=64 --schedule=random:1 %{data} | FileCheck %s --check-prefix=RESULT

// RUN: %{again}
// REDEFINE: %{level} = grid
// RUN: %{again}
// REDEFINE: %{level} = plan
// RUN: %{again}

// RESULT: kept[:num] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, … 499 in all]
// RESULT-NEXT: sum = [249001]
qd.grid.kernel @sum_of_odd(%a: memref<?xi32> {qd.name = "a"}, %odd: memref<?xi32> {qd.name = "odd"},
                           %kept: memref<?xi32> {qd.name = "kept"}, %num: memref<i32> {qd.name = "num"},
                           %sum: memref<1xi32> {qd.name = "sum"}, %scratch: memref<?xi32> {qd.name = "scratch"},
                           %n: memref<i32> {qd.name = "n"}) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each "odd" %i to %len count(%n : memref<i32>) {
    %one = arith.constant 1 : i32
    %x = memref.load %a[%i] : memref<?xi32>
    %is_odd = arith.andi %x, %one : i32
    memref.store %is_odd, %odd[%i] : memref<?xi32>
  }
  qd.algo.select ins(%a, %odd : memref<?xi32>, memref<?xi32>) outs(%kept, %num : memref<?xi32>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  qd.algo.reduce add ins(%kept : memref<?xi32>) outs(%sum : memref<1xi32>)
      scratch(%scratch : memref<?xi32>) count(%num : memref<i32>) log256_max_n = 2
}
