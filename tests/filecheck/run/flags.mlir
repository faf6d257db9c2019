// Any flag but 0 is one: select and partition neither count it twice nor leave it out.

// DEFINE: %{way} = --interpret
// DEFINE: %{data} = -q --arg 'x=[1, 2, 3, 4, 5, 6, 7, 8]' --arg 'flags=[2, 0, -1, 256, 0, 65536, -2147483648, 0]' \
// DEFINE:   --arg 'kept=zeros[8]' --arg 'kept_rows=zeros[4, 2]' --arg 'parted=zeros[8]' --arg 'rows=iota[4, 2]' \
// DEFINE:   --arg 'scratch=poison[300]' --arg n=8 --arg m=4 --print kept --print num --print kept_rows --print parted
// DEFINE: %{run} = qd-run %s %{way} %{data} | FileCheck %s
// RUN: %{run}
// REDEFINE: %{way} = --target=cpu
// RUN: %{run}
// REDEFINE: %{way} = --target=vulkan:1.3
// RUN: %if vulkan %{ %{run} %}

// CHECK: kept = [1, 3, 4, 6, 7, 0, 0, 0]
// CHECK-NEXT: num = 5
// CHECK-NEXT: kept_rows = {{\[\[}}0, 1], [4, 5], [6, 7], [0, 0]]
// CHECK-NEXT: parted = [1, 3, 4, 6, 7, 2, 5, 8]
qd.grid.kernel @move(%x: memref<?xi32> {qd.name = "x"}, %rows: memref<?x2xi32> {qd.name = "rows"},
                     %flags: memref<?xi32> {qd.name = "flags"}, %kept: memref<?xi32> {qd.name = "kept"},
                     %kept_rows: memref<?x2xi32> {qd.name = "kept_rows"}, %parted: memref<?xi32> {qd.name = "parted"},
                     %num: memref<i32> {qd.name = "num"}, %num_rows: memref<i32> {qd.name = "num_rows"},
                     %num_parted: memref<i32> {qd.name = "num_parted"}, %s: memref<?xi32> {qd.name = "scratch"},
                     %n: memref<i32> {qd.name = "n"}, %m: memref<i32> {qd.name = "m"}) {
  qd.algo.select ins(%x, %flags : memref<?xi32>, memref<?xi32>) outs(%kept, %num : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  qd.algo.select ins(%rows, %flags : memref<?x2xi32>, memref<?xi32>) outs(%kept_rows, %num_rows : memref<?x2xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%m : memref<i32>) log256_max_n = 1
  qd.algo.partition ins(%x, %flags : memref<?xi32>, memref<?xi32>) outs(%parted, %num_parted : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
