// Each kind of value, and what it is as data; how a run is reported.

// DEFINE: %{a} = zeros[1]
// DEFINE: %{run} = qd-run %S/Inputs/select.mlir --entry=scale --arg by=1 --print a -q --arg 'a=%{a}'

// RUN: %{run} | FileCheck %s --check-prefix=ZEROS --match-full-lines
// ZEROS: a = [0]
// REDEFINE: %{a} = [0xFF, 1e3, 4_000_000_000]
// RUN: %{run} | FileCheck %s --check-prefix=LIST --match-full-lines
// LIST: a = [255, 1000, 4000000000]
// REDEFINE: %{a} = iota(start=5, step=2)[4]
// RUN: %{run} | FileCheck %s --check-prefix=IOTA --match-full-lines
// IOTA: a = [5, 7, 9, 11]
// REDEFINE: %{a} = poison[2]
// RUN: %{run} | FileCheck %s --check-prefix=POISON --match-full-lines
// POISON: a = [2779096485, 2779096485]
// REDEFINE: %{a} = const(7)[100]
// RUN: %{run} | FileCheck %s --check-prefix=CONST --match-full-lines
// CONST: a = [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, … 100 in all]
// REDEFINE: %{a} = []
// RUN: %{run} | FileCheck %s --check-prefix=EMPTY --match-full-lines
// EMPTY: a = []

// The same seed gives the same numbers wherever it runs.
// REDEFINE: %{a} = random(seed=1, max=99)[8]
// RUN: %{run} | FileCheck %s --check-prefix=RANDOM --match-full-lines
// RANDOM: a = [56, 74, 97, 44, 44, 76, 87, 52]

// Lengths that the kernel's algorithms imply, and of other arguments; rows; a value that is computed.
// RUN: qd-run %S/Inputs/select.mlir --entry=select --arg 'points=iota[4, 3]' --arg 'flags=[1, 0, 0, 1]' --arg 'n=len(points)' \
// RUN:   --print 'kept[:num]' --print num --time | FileCheck %s --check-prefix=SELECT
//      SELECT: points   f32[4, 3]  iota[4, 3]
// SELECT-NEXT: flags    i32[4]     [1, 0, 0, 1]
// SELECT-NEXT: kept     f32[4, 3]{{$}}
// SELECT-NEXT: num      i32[]{{$}}
// SELECT-NEXT: scratch  i32[5]{{$}}
// SELECT-NEXT: n        i32[]      len(points) = 4
// SELECT-NEXT: compiled in {{.*}}; wave 32; ran in {{.*}}: 1 launch
// SELECT-NEXT: phase runs blocks time share
// SELECT-NEXT: select
//      SELECT: kept[:num] = {{\[}}[0, 1, 2], [9, 10, 11]]
// SELECT-NEXT: num = 2

// RUN: qd-run %S/Inputs/add.mlir --interpret --wave=4 --schedule=random:3 --arg a=iota[5] --arg b=iota[5] --arg 'out=zeros[len(a)]' --arg n=4 --print out \
// RUN:   | FileCheck %s --check-prefix=INTERPRETED
//      INTERPRETED: add, interpreted, wave 4
//      INTERPRETED: interpreted in {{.*}}: 1 phases, {{.*}} operations
// INTERPRETED-NEXT: out = [0, 2, 4, 6, 0]

// What is undefined is reported with its place, not computed: here b ends before a does.
// RUN: not qd-run %S/Inputs/add.mlir --interpret --arg a=iota[5] --arg b=iota[3] --arg 'out=zeros[5]' --arg n=5 2>&1 | FileCheck %s --check-prefix=FAULT
// FAULT: {{^}}{{.*}}add.mlir:8:10: error: 'memref.load' {{.*}}

// A buffer that was not mentioned holds nothing to the interpreter.
// RUN: qd-run %S/Inputs/select.mlir --entry=select --interpret --arg 'points=iota[4, 3]' --arg 'flags=[1, 0, 0, 1]' --arg n=4 \
// RUN:   --print 'kept[:num]' -q | FileCheck %s --check-prefix=KEPT --match-full-lines
// KEPT: kept[:num] = {{\[}}[0, 1, 2], [9, 10, 11]]

// Lists in a list are rows, of the extents that the argument has.
// DEFINE: %{points} = [[0, 1, 2], [3, 4, 5]]
// DEFINE: %{rows} = qd-run %S/Inputs/select.mlir --entry=select --arg 'points=%{points}' --arg 'flags=[0, 1]' --arg n=2 --print 'kept[:num]' -q
// RUN: %{rows} | FileCheck %s --check-prefix=ROWS --match-full-lines
// ROWS: kept[:num] = {{\[}}[3, 4, 5]]
// REDEFINE: %{points} = [[0, 1], [2, 3]]
// RUN: not %{rows} 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: --arg points={{.*}}: it is f32[2, 2], but argument 'points' of kernel 'select' is a buffer f32[?, 3]
// REDEFINE: %{points} = [[0, 1], [2]]
// RUN: not %{rows} 2>&1 | FileCheck %s --check-prefix=RAGGED
// RAGGED: --arg points: not of the shape of the list's first item

// Text, bytecode and standard input are the same.
// RUN: qd-opt %S/Inputs/add.mlir --emit-bytecode -o %t.mlirbc
// RUN: qd-run %t.mlirbc --arg a=[1] --arg b=[2] --arg out=[0] --arg n=1 --print out | FileCheck %s --check-prefix=BYTECODE
// RUN: qd-run - --arg a=[1] --arg b=[2] --arg out=[0] --arg n=1 --print out < %t.mlirbc | FileCheck %s --check-prefix=BYTECODE
// RUN: cat %S/Inputs/add.mlir | qd-run - --interpret --arg a=[1] --arg b=[2] --arg out=[0] --arg n=1 --print out | FileCheck %s --check-prefix=BYTECODE
// BYTECODE: out = [3]

// Every run of several starts from the same data.
// RUN: qd-run %S/Inputs/select.mlir --entry=scale --arg by=3 --arg a=[1,2] --repeat=5 --print a | FileCheck %s --check-prefix=REPEAT
// REPEAT: ran in {{.*}} (median of 5): 1 launch
// REPEAT-NEXT: a = [3, 6]

// RUN: qd-run --help | FileCheck %s --check-prefix=HELP
// HELP: Usage: qd-run [OPTIONS] [FILE]
// HELP: Values of --arg
// HELP: Examples:
// HELP: qd-run sum.mlir --arg 'a=random(seed=1)[1_000_000]'

// A trace is one JSON array, with a span for each part of the way.
// RUN: qd-run %S/Inputs/add.mlir --arg a=[1] --arg b=[2] --arg out=[0] --arg n=1 --trace=%t.json && FileCheck %s --check-prefix=TRACE < %t.json
// TRACE: [
// TRACE-DAG: "name":"pipeline"
// TRACE-DAG: "name":"load"
// TRACE-DAG: "name":"run"
// TRACE: ]
