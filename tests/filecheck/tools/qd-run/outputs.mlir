// Results are written when everything has succeeded, all or none; what was there before stays until then.

// RUN: rm -rf %t && mkdir %t && cd %t
// DEFINE: %{run} = qd-run %S/Inputs/add.mlir --arg a=[1,2,3] --arg b=[4,5,6] --arg out=zeros[3]

// RUN: %{run} --arg n=3 --out out=sum.npy --out 'out[:2]=two.npy' --out '2[:n]=all.npy' | FileCheck %s
//      CHECK: add on cpu
// CHECK-NEXT: a    i32[3]  [1,2,3]
// CHECK-NEXT: b    i32[3]  [4,5,6]
// CHECK-NEXT: out  i32[3]  zeros[3]
// CHECK-NEXT: n    i32[]   3
// CHECK-NEXT: compiled in {{.*}}; wave 32; ran in {{.*}}: 1 launch{{$}}
// CHECK-NEXT: wrote 3 rows to sum.npy
// CHECK-NEXT: wrote 2 rows to two.npy
// CHECK-NEXT: wrote 3 rows to all.npy

// What was written can be read.
// RUN: qd-run %S/Inputs/add.mlir --arg a=sum.npy --arg b=sum.npy --arg 'out=zeros[len(a)]' --arg 'n=len(a)' --print out | FileCheck %s --check-prefix=AGAIN
// AGAIN: out = [10, 14, 18]
// RUN: cmp sum.npy all.npy

// Nothing else is left in the folder.
// RUN: ls -A | FileCheck %s --check-prefix=FILES --match-full-lines
//      FILES: all.npy
// FILES-NEXT: sum.npy
// FILES-NEXT: two.npy
//  FILES-NOT: {{.}}

// A failure leaves the files as they were: the first output would have succeeded.
// RUN: cp sum.npy before.npy
// RUN: not %{run} --arg n=1 --out out=sum.npy --out 'out[:4]=new.npy' 2>&1 | FileCheck %s --check-prefix=PREFIX --match-full-lines
// PREFIX: qd-run: --out 'out[:4]=new.npy': 'out' has 3 rows, so there are no first 4
// RUN: not %{run} --arg n=1 --out out=sum.npy --out out=/dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: qd-run: --out 'out=/dev/full': No space left on device
// RUN: not %{run} --arg n=1 --out out=sum.npy --print 'out[:n' 2>&1 | FileCheck %s --check-prefix=PRINT
// PRINT: qd-run: --print 'out[:n': expected NAME or NAME[:K], brackets included, not 'out[:n'
// RUN: cmp sum.npy before.npy
// RUN: not ls new.npy

// Before anything runs it is clear whether there is a place to write to.
// RUN: not %{run} --arg n=1 --out out=folder/x.npy 2>&1 | FileCheck %s --check-prefix=FOLDER --match-full-lines
// FOLDER: qd-run: --out 'out=folder/x.npy': there is no folder folder
// RUN: not %{run} --arg n=1 --out out=. 2>&1 | FileCheck %s --check-prefix=IS-FOLDER --match-full-lines
// IS-FOLDER: qd-run: --out 'out=.': it is a folder
// RUN: not %{run} --arg n=1 --out out=x.npy --out a=x.npy 2>&1 | FileCheck %s --check-prefix=SAME --match-full-lines
// SAME: qd-run: --out 'a=x.npy': another --out writes the same file
// RUN: not %{run} --arg n=1 --out sum=x.npy 2>&1 | FileCheck %s --check-prefix=NAME --match-full-lines
// NAME: qd-run: --out 'sum=x.npy': kernel 'add' has no argument 'sum': it takes a, b, out, n
// RUN: not %{run} --arg n=1 --trace=folder/t.json 2>&1 | FileCheck %s --check-prefix=TRACE
// TRACE: qd-run: --trace=folder/t.json: No such file or directory
