// Truth values and floats of two bytes: read, shown and written, and passed on as the integers that they are to a kernel.

// RUN: rm -rf %t && mkdir %t && cd %t
// DEFINE: %{run} = qd-run %s --arg b=zeros[3] --print h --print b --print t --out h=h.npy --out t=t.npy -q
// RUN: %{run} --arg h=zeros[3] --arg t=[0,1,0] | FileCheck %s --match-full-lines
// RUN: %{run} --arg h=zeros[3] --arg t=[0,1,0] --interpret | FileCheck %s --match-full-lines
//      CHECK: h = [-2.5, -2.5, -2.5]
// CHECK-NEXT: b = [1.5, 1.5, 1.5]
// CHECK-NEXT: t = [1, 0, 1]

// What was written is of NumPy's types, and is read.
// RUN: %python -c 'print(open("h.npy", "rb").read()[10:30], open("t.npy", "rb").read()[10:30])' | FileCheck %s --check-prefix=TYPES
// TYPES: 'descr': '<f2'{{.*}}'descr': '|b1'
// RUN: %{run} --arg h=h.npy --arg t=t.npy | FileCheck %s --check-prefix=AGAIN --match-full-lines
// AGAIN: t = [0, 1, 0]
// RUN: %python -c 'b = bytearray(open("t.npy", "rb").read()); b[-1] = 7; open("seven.npy", "wb").write(b)'
// RUN: not %{run} --arg h=h.npy --arg t=seven.npy 2>&1 | FileCheck %s --check-prefix=SEVEN
// SEVEN: seven.npy: its truth values are not all 0 or 1

// What cannot be said in numbers or files.
// RUN: not %{run} --arg h=h.npy --arg t=2 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: 2 is no bool: it holds 0 to 1
// RUN: not %{run} --arg h=random[3] --arg t=t.npy 2>&1 | FileCheck %s --check-prefix=RANDOM
// RANDOM: there is no such sequence of f16: give a file

// bf16 is of the type that ml_dtypes gives it.
// RUN: %{run} --arg h=h.npy --arg t=t.npy --out b=b.npy
// RUN: %python -c 'print(open("b.npy", "rb").read()[10:30])' | FileCheck %s --check-prefix=BF16
// BF16: 'descr': '<V2'
// RUN: qd-run %s --arg h=h.npy --arg b=b.npy --arg t=t.npy --print b -q | FileCheck %s --check-prefix=READ
// READ: b = [1.5, 1.5, 1.5]

qd.grid.kernel @k(%h: memref<?xi16> {qd.name = "h", qd.dtype = "f16"}, %b: memref<?xi16> {qd.name = "b", qd.dtype = "bf16"},
    %t: memref<?xi8> {qd.name = "t", qd.dtype = "bool"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %h, %c0 : memref<?xi16>
  qd.grid.for_each %i to %n {
    %less = arith.constant 0xC100 : i16
    %more = arith.constant 0x3FC0 : i16
    %one = arith.constant 1 : i8
    memref.store %less, %h[%i] : memref<?xi16>
    memref.store %more, %b[%i] : memref<?xi16>
    %old = memref.load %t[%i] : memref<?xi8>
    %not = arith.xori %old, %one : i8
    memref.store %not, %t[%i] : memref<?xi8>
  }
}
