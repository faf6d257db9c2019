// Arguments that are not what the kernel takes: one message each, which names the argument and both sides, and exit
// code 1.

// DEFINE: %{select} = qd-run %S/Inputs/select.mlir --entry=select
// DEFINE: %{scale} = qd-run %S/Inputs/select.mlir --entry=scale
// DEFINE: %{points} = --arg 'points=random[10, 3]' --arg 'flags=const(1)[10]'

// Names.
// RUN: not %{select} --arg x=1 2>&1 | FileCheck %s --check-prefix=UNKNOWN --match-full-lines
// UNKNOWN: qd-run: --arg 'x=1': kernel 'select' has no argument 'x': it takes points, flags, kept, num, scratch, n
// RUN: not %{scale} --arg a=[1] --arg 0=[2] 2>&1 | FileCheck %s --check-prefix=TWICE --match-full-lines
// TWICE: qd-run: --arg '0=[2]': 'a' is given twice
// RUN: not %{scale} --arg a 2>&1 | FileCheck %s --check-prefix=NO-VALUE --match-full-lines
// NO-VALUE: qd-run: --arg 'a': expected NAME=VALUE

// What has to be given: an input has no contents of its own, a scalar no value.
// RUN: not %{select} 2>&1 | FileCheck %s --check-prefix=INPUT --match-full-lines
// INPUT: qd-run: argument 'points' of kernel 'select' is a buffer f32[?, 3], and the kernel reads it before it writes it: give it with --arg points=FILE.npy
// RUN: not %{select} %{points} 2>&1 | FileCheck %s --check-prefix=COUNT --match-full-lines
// COUNT: qd-run: argument 'n' of kernel 'select' is a buffer i32[], and the kernel reads it before it writes it: give it with --arg n=NUMBER
// RUN: not %{scale} --arg a=[1] 2>&1 | FileCheck %s --check-prefix=SCALAR --match-full-lines
// SCALAR: qd-run: argument 'by' of kernel 'scale' is a scalar i32, and it has no value: give it with --arg by=NUMBER

// Values that cannot be read point at the place.
// RUN: not %{scale} --arg 'a=random(sed=1)[3]' 2>&1 | FileCheck %s --check-prefix=SYNTAX --match-full-lines --strict-whitespace
//      SYNTAX:qd-run: --arg a: unknown option 'sed' of random: expected seed, min, max
// SYNTAX-NEXT:  random(sed=1)[3]
// SYNTAX-NEXT:         ^
// RUN: not %{scale} --arg a=data.csv 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: qd-run: --arg a: unknown value 'data.csv': expected a .npy file, a number, [numbers], len(NAME), rows(NAME), zeros

// Types and shapes.
// RUN: not %{scale} --arg a=[1,-2] --arg by=1 2>&1 | FileCheck %s --check-prefix=SIGN --match-full-lines
// SIGN: qd-run: --arg a=[1,-2]: -2 is no u32: it holds 0 to 4294967295; argument 'a' of kernel 'scale' is a buffer u32[?]
// RUN: not %{scale} --arg a=[1] --arg by=1.5 2>&1 | FileCheck %s --check-prefix=FRACTION --match-full-lines
// FRACTION: qd-run: --arg by=1.5: 1.5 is no i32; argument 'by' of kernel 'scale' is a scalar i32
// RUN: not %{scale} --arg a=1 --arg by=1 2>&1 | FileCheck %s --check-prefix=ONE --match-full-lines
// ONE: qd-run: --arg a=1: argument 'a' of kernel 'scale' is a buffer u32[?]: const(…) fills it with one value
// RUN: not %{scale} --arg a=[1] --arg by=[1] 2>&1 | FileCheck %s --check-prefix=BUFFER --match-full-lines
// BUFFER: qd-run: --arg by=[1]: argument 'by' of kernel 'scale' is a scalar i32: give it a number
// RUN: not %{select} %{points} --arg kept=zeros[10] --arg n=1 2>&1 | FileCheck %s --check-prefix=RANK --match-full-lines
// RANK: qd-run: --arg kept=zeros[10]: it is f32[10], but argument 'kept' of kernel 'select' is a buffer f32[?, 3]
// RUN: not %{select} %{points} --arg 'kept=zeros[10, 4]' --arg n=1 2>&1 | FileCheck %s --check-prefix=ROW --match-full-lines
// ROW: qd-run: --arg kept=zeros[10, 4]: it is f32[10, 4], but argument 'kept' of kernel 'select' is a buffer f32[?, 3]

// Lengths.
// RUN: not %{scale} --arg a=zeros --arg by=1 2>&1 | FileCheck %s --check-prefix=LENGTH --match-full-lines
// LENGTH: qd-run: argument 'a' of kernel 'scale' is a buffer u32[?], and nothing says how long: give it with --arg a=zeros[LENGTH]
// RUN: not %{scale} --arg 'a=zeros[len(by)]' --arg by=1 2>&1 | FileCheck %s --check-prefix=OF-SCALAR --match-full-lines
// OF-SCALAR: qd-run: --arg a=zeros[len(by)]: 'by' is a scalar, which has no length
// RUN: not %{select} --arg 'points=zeros[len(flags), 3]' --arg 'flags=zeros[len(points)]' --arg n=1 2>&1 | FileCheck %s --check-prefix=CYCLE --match-full-lines
// CYCLE: qd-run: the lengths of the arguments points, flags, kept, scratch of kernel 'select' depend on each other: give one of them with --arg
// RUN: not %{scale} --arg a=zeros[1_000_000_000_000_000] --arg by=1 2>&1 | FileCheck %s --check-prefix=MEMORY --match-full-lines
// MEMORY: qd-run: --arg a=zeros[1_000_000_000_000_000]: not enough memory for u32[1000000000000000]

// A count above the buffers' length, above the capacity, or below zero; too little scratch.
// RUN: not %{select} %{points} --arg n=11 2>&1 | FileCheck %s --check-prefix=TOO-MANY --match-full-lines
// TOO-MANY: qd-run: --arg n=11: the count is 11, but the capacity and the buffers allow 0 to 10
// RUN: not %{select} --arg 'points=random[1000, 3]' --arg 'flags=const(1)[1000]' --arg n=257 2>&1 | FileCheck %s --check-prefix=CAPACITY --match-full-lines
// CAPACITY: qd-run: --arg n=257: the count is 257, but the capacity and the buffers allow 0 to 256
// RUN: not %{select} %{points} --arg n=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE --match-full-lines
// NEGATIVE: qd-run: --arg n=-1: the count is -1, but the capacity and the buffers allow 0 to 10
// RUN: not %{select} %{points} --arg n=10 --arg scratch=zeros[10] 2>&1 | FileCheck %s --check-prefix=SCRATCH --match-full-lines
// SCRATCH: qd-run: --arg scratch=zeros[10]: it has 10 rows, but the kernel needs at least 11

// The interpreter is given the same arguments after the same checks.
// RUN: not %{select} --interpret %{points} --arg n=11 2>&1 | FileCheck %s --check-prefix=TOO-MANY --match-full-lines
