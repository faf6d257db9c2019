// An invalid count, written by the device, is an error in the interpreter, and clamped in compiled code: a negative
// one to 0, and one that is too large to the length of the buffers.

// DEFINE: %{way} = --target=cpu
// DEFINE: %{run} = qd-run %s %{way} -q --arg 'x=[5, 3, 4]' --arg 'flags=[1, 0, 1]' --arg 'doubled=zeros[3]' --arg 'kept=zeros[3]' \
// DEFINE:   --arg 'keys=[3, 1, 2]' --arg 'tmp=zeros[3]' --arg 'sums=zeros[3]' --arg 'scratch=poison[600]' --arg n=0 --print doubled --print sum \
// DEFINE:   --print kept --print num --print keys --print sums
// DEFINE: %{negative} = %{run} --arg given=-1 | FileCheck %s --check-prefix=NEGATIVE
// DEFINE: %{large} = %{run} --arg given=2147483647 | FileCheck %s --check-prefix=LARGE
// RUN: %{negative}
// RUN: %{large}
// REDEFINE: %{way} = --target=vulkan:1.3
// RUN: %if vulkan %{ %{negative} && %{large} %}
// REDEFINE: %{way} = --interpret
// RUN: not %{run} --arg given=-1 2>&1 | FileCheck %s --check-prefix=FAULT
// FAULT: has a negative count, -1

// NEGATIVE: doubled = [0, 0, 0]
// NEGATIVE-NEXT: sum = [0]
// NEGATIVE-NEXT: kept = [0, 0, 0]
// NEGATIVE-NEXT: num = 0
// NEGATIVE-NEXT: keys = [3, 1, 2]
// NEGATIVE-NEXT: sums = [0, 0, 0]
// LARGE: doubled = [10, 6, 8]
// LARGE-NEXT: sum = [12]
// LARGE-NEXT: kept = [5, 4, 0]
// LARGE-NEXT: num = 2
// LARGE-NEXT: keys = [1, 2, 3]
// LARGE-NEXT: sums = [0, 5, 8]
qd.grid.kernel @all(%x: memref<?xi32> {qd.name = "x"}, %flags: memref<?xi32> {qd.name = "flags"},
                    %doubled: memref<?xi32> {qd.name = "doubled"}, %sum: memref<1xi32> {qd.name = "sum"},
                    %kept: memref<?xi32> {qd.name = "kept"}, %num: memref<i32> {qd.name = "num"},
                    %keys: memref<?xi32> {qd.name = "keys"}, %tmp: memref<?xi32> {qd.name = "tmp"},
                    %sums: memref<?xi32> {qd.name = "sums"}, %s: memref<?xi32> {qd.name = "scratch"},
                    %n: memref<i32> {qd.name = "n"}, %given: memref<i32> {qd.name = "given"}) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %x, %c0 : memref<?xi32>
  %c1 = arith.constant 1 : index
  qd.grid.for_each %i to %c1 {
    %count = memref.load %given[] : memref<i32>
    memref.store %count, %n[] : memref<i32>
  }
  qd.grid.for_each %i to %len count(%n : memref<i32>) {
    %a = memref.load %x[%i] : memref<?xi32>
    %b = arith.addi %a, %a : i32
    memref.store %b, %doubled[%i] : memref<?xi32>
  }
  qd.algo.reduce add ins(%x : memref<?xi32>) outs(%sum : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  qd.algo.select ins(%x, %flags : memref<?xi32>, memref<?xi32>) outs(%kept, %num : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  qd.algo.sort keys(%keys, %tmp : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  qd.algo.exclusive_scan add ins(%x : memref<?xi32>) outs(%sums : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
}
