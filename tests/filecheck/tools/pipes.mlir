// What is read may be a pipe, which can be opened once: named, from the shell, or standard input under either name. What cannot be
// written is one message and exit code 1, and nothing is left behind.

// RUN: rm -rf %t && mkdir %t
// RUN: mkfifo %t/pipe

// RUN: bash -c 'cat %s >%t/pipe & timeout 60 qd-opt %t/pipe --to=plan' | FileCheck %s
// RUN: bash -c 'cat %s >%t/pipe & timeout 60 qd-translate %t/pipe --emit=plan' | FileCheck %s --check-prefix=PLAN
// RUN: bash -c 'cat %s >%t/pipe & timeout 60 qd-run %t/pipe --arg a=zeros[4] --arg n=4 --print a' | FileCheck %s --check-prefix=RESULT
// RUN: bash -c 'timeout 60 qd-run <(cat %s) --arg a=zeros[4] --arg n=4 --print a' | FileCheck %s --check-prefix=RESULT
// RUN: cat %s | timeout 60 qd-run /dev/stdin --arg a=zeros[4] --arg n=4 --print a | FileCheck %s --check-prefix=RESULT
// RUN: cat %s | timeout 60 qd-run - --arg a=zeros[4] --arg n=4 --print a | FileCheck %s --check-prefix=RESULT
// RUN: bash -c 'timeout 60 qd-run <(qd-translate %s) --arg a=zeros[4] --arg n=4 --print a' | FileCheck %s --check-prefix=RESULT
// RUN: qd-opt %s --emit-bytecode | timeout 60 qd-run - --arg a=zeros[4] --arg n=4 --print a | FileCheck %s --check-prefix=RESULT
// CHECK: qd.grid.launch
// PLAN: "name": "k"
// RESULT: a = [1, 1, 1, 1]

// An error in a pipe has a place, and does not wait for another writer to quote the line.
// RUN: bash -c 'echo qd.simt.nosuch >%t/pipe & timeout 60 qd-run %t/pipe 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=BAD
// BAD: pipe:1:1: error: custom op 'qd.simt.nosuch' is unknown
// RUN: sh -c 'echo qd.simt.nosuch | qd-translate - 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=STDIN
// STDIN: <stdin>:1:1: error: custom op 'qd.simt.nosuch' is unknown

// Full devices, folders, and folders that are not there.
// RUN: sh -c 'qd-opt %s -o /dev/full 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=OPT-FULL
// OPT-FULL: qd-opt: IO failure on output stream: No space left on device
// RUN: sh -c 'qd-translate %s -o /dev/full 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=TRANSLATE-FULL
// TRANSLATE-FULL: qd-translate: /dev/full: No space left on device
// RUN: sh -c 'qd-run %s --arg a=zeros[4] --arg n=4 2>&1 >/dev/full; test $? -eq 1' | FileCheck %s --check-prefix=RUN-FULL
// RUN-FULL: qd-run: standard output: No space left on device
// RUN: sh -c 'qd-opt %s -o %t 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=OPT-FOLDER
// OPT-FOLDER: cannot open output file '{{.*}}': Is a directory
// RUN: sh -c 'qd-translate %s -o %t 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=TRANSLATE-FOLDER
// TRANSLATE-FOLDER: qd-translate: {{.*}}: Is a directory
// RUN: sh -c 'qd-translate %s -o %t/nowhere/out 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: qd-translate: {{.*}}out: No such file or directory
// RUN: sh -c 'qd-run %t 2>&1; test $? -eq 1' | FileCheck %s --check-prefix=FOLDER
// FOLDER: qd-run: {{.*}}: it is a folder
// RUN: ls -A %t | FileCheck %s --check-prefix=LEFT --match-full-lines --implicit-check-not={{.}}
// LEFT: pipe

qd.grid.kernel @k(%a: memref<?xi32> {qd.name = "a"}, %n: index {qd.name = "n"}) {
  qd.grid.for_each %i to %n {
    %v = memref.load %a[%i] : memref<?xi32>
    %one = arith.constant 1 : i32
    %w = arith.addi %v, %one : i32
    memref.store %w, %a[%i] : memref<?xi32>
  }
}
