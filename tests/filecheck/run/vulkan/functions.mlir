// On Vulkan functions compute what ../functions.mlir says.

// REQUIRES: vulkan

// DEFINE: %{run} = qd-run %S/../functions.mlir --target=vulkan:1.3 -q
// RUN: %{run} --entry=bits --arg 'a=[1, 6, -1, 0, 64]' --arg hi=zeros[5] --arg lo=zeros[5] --print hi --print lo | FileCheck %s --check-prefix=BITS
// BITS: hi = [0, 2, 31, -1, 6]
// BITS: lo = [0, 1, 0, -1, 6]
// RUN: %{run} --entry=rows --arg a=iota[128] --arg out=zeros[2] --print out | FileCheck %s --check-prefix=ROWS
// ROWS: out = [2016, 6112]
// RUN: %{run} --entry=pairs --arg a=iota[64] --arg o=zeros[64] --print o | FileCheck %s --check-prefix=PAIRS
// PAIRS: o = [1, 1, 5, 5, 9, 9,
// RUN: %{run} --entry=branch --arg a=iota[64] --arg limit=1 --print o | FileCheck %s --check-prefix=BRANCH
// BRANCH: o = [2016, 2017, 2018, 2019,
