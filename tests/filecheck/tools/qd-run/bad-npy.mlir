// Data files that are missing, damaged or of another type than the argument: one message each, which names the file.

// REQUIRES: numpy

// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %python %S/Inputs/bad_npy.py
// DEFINE: %{file} = good
// DEFINE: %{run} = qd-run %S/Inputs/select.mlir --entry=scale --arg by=1 --arg a=%{file}.npy

// RUN: %{run} --print a | FileCheck %s --check-prefix=GOOD
// GOOD: a  u32[3]  good.npy
// GOOD: a = [1, 2, 4294967295]

// Bytes are put in the machine's order.
// REDEFINE: %{file} = big-endian
// RUN: %{run} --print a | FileCheck %s --check-prefix=BIG-ENDIAN
// BIG-ENDIAN: a = [1, 2, 4294967295]

// REDEFINE: %{file} = missing
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=MISSING --match-full-lines
// MISSING: qd-run: --arg a=missing.npy: there is no such file

// REDEFINE: %{file} = signed
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=SIGNED --match-full-lines
// SIGNED: qd-run: --arg a=signed.npy: it is i32[3], but argument 'a' of kernel 'scale' is a buffer u32[?]

// REDEFINE: %{file} = float
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=FLOAT --match-full-lines
// FLOAT: qd-run: --arg a=float.npy: it is f32[3], but argument 'a' of kernel 'scale' is a buffer u32[?]

// REDEFINE: %{file} = wide
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=WIDE --match-full-lines
// WIDE: qd-run: --arg a=wide.npy: it is u64[3], but argument 'a' of kernel 'scale' is a buffer u32[?]

// REDEFINE: %{file} = half
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=HALF --match-full-lines
// HALF: qd-run: --arg a=half.npy: it is f16[3], but argument 'a' of kernel 'scale' is a buffer u32[?]

// REDEFINE: %{file} = structured
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=STRUCTURED --match-full-lines
// STRUCTURED: qd-run: --arg a=structured.npy: its elements are [('x', '<u4'), ('y', '<f4')], which no kernel takes

// REDEFINE: %{file} = table
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=TABLE --match-full-lines
// TABLE: qd-run: --arg a=table.npy: it is u32[3, 2], but argument 'a' of kernel 'scale' is a buffer u32[?]

// REDEFINE: %{file} = fortran
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=FORTRAN --match-full-lines
// FORTRAN: qd-run: --arg a=fortran.npy: it is in Fortran order: save numpy.ascontiguousarray of the array

// REDEFINE: %{file} = truncated
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=TRUNCATED --match-full-lines
// TRUNCATED: qd-run: --arg a=truncated.npy: it is cut short: 11 bytes of data instead of 12

// REDEFINE: %{file} = header
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=HEADER --match-full-lines
// HEADER: qd-run: --arg a=header.npy: it is cut short

// REDEFINE: %{file} = longer
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=LONGER --match-full-lines
// LONGER: qd-run: --arg a=longer.npy: 4 bytes stand behind its data

// REDEFINE: %{file} = text
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=TEXT --match-full-lines
// TEXT: qd-run: --arg a=text.npy: it is no .npy file
