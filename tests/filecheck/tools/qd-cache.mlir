// What has been compiled is found by the next process, wherever it stands and whichever tool asks.

// RUN: rm -rf %t && split-file %s %t && cd %t
// DEFINE: %{cached} = env QD_CACHE_DIR=%t/cache
// DEFINE: %{run} = %{cached} qd-run double.mlir --arg a=[1,2,3] --print a

// RUN: %{run} | FileCheck %s --check-prefix=FIRST
// FIRST: {{^}}compiled in {{.*}}; wave 32; ran in
// FIRST: a = [2, 4, 6]
// RUN: %{run} | FileCheck %s --check-prefix=AGAIN
// AGAIN: double on cpu
// AGAIN: {{^}}compiled before: loaded in {{.*}}; wave 32; ran in
// AGAIN: a = [2, 4, 6]
// RUN: %{cached} qd-run moved.mlir --arg a=[1,2,3] --print a | FileCheck %s --check-prefix=AGAIN
// RUN: %{cached} qd-run other.mlir --arg a=[1,2,3] --print a | FileCheck %s --check-prefix=OTHER
// OTHER: {{^}}compiled in
// OTHER: a = [3, 6, 9]
// RUN: %{run} --no-cache | FileCheck %s --check-prefix=FIRST
// RUN: env QD_CACHE_DIR= qd-run double.mlir --arg a=[1,2,3] --print a | FileCheck %s --check-prefix=FIRST
// RUN: %{cached} qd-run double.mlir --target=cpu,wave=8 --arg a=[1,2,3] | FileCheck %s --check-prefix=WAVE
// WAVE: {{^}}compiled in {{.*}}; wave 8;

// Errors are what they were, and are not kept.
// RUN: not %{cached} qd-run double.mlir --entry=none --arg a=[1] 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: qd-run: double.mlir: there is no kernel 'none': the kernels in it are double
// RUN: not %{run} --arg b=1 2>&1 | FileCheck %s --check-prefix=ARG
// ARG: qd-run: --arg 'b=1': kernel 'double' has no argument 'b': it takes a
// RUN: cp double.mlir broken.mlir && echo 'func.func @f() { nonsense }' >> broken.mlir
// RUN: not %{cached} qd-run broken.mlir --entry=double --arg a=[1] 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: broken.mlir:{{[0-9]+}}:18: error:

// An artifact of it is the same as one that is compiled, whoever else does the same.
// RUN: qd-translate moved.mlir --target=cpu --target=nvptx:sm_90 -o clean.qdart
// RUN: sh -c '%{cached} qd-translate moved.mlir --target=cpu --target=nvptx:sm_90 -o first.qdart & %{cached} qd-translate moved.mlir --target=cpu --target=nvptx:sm_90 -o second.qdart; wait'
// RUN: %{cached} qd-translate moved.mlir --target=cpu --target=nvptx:sm_90 -o third.qdart
// RUN: cmp clean.qdart first.qdart && cmp clean.qdart second.qdart && cmp clean.qdart third.qdart
// RUN: %{cached} qd-translate moved.mlir --no-cache -o clean.qdart && qd-run clean.qdart --arg a=[1] --print a | FileCheck %s --check-prefix=ARTIFACT
// ARTIFACT: a = [2]

// RUN: %{cached} qd-cache show | FileCheck %s --check-prefix=SHOW
// SHOW-DAG: {{^[0-9a-f]{12} +[0-9]+}} double for cpu{{$}}
// SHOW-DAG: {{^[0-9a-f]{12} +[0-9]+}} double for cpu,wave=8{{$}}
// SHOW-DAG: {{^[0-9a-f]{12} +[0-9]+}} double for nvptx:sm_90{{$}}
// SHOW-DAG: {{^[0-9a-f]{12} +[0-9]+}} a valid module{{$}}
// RUN: %{cached} qd-cache verify | FileCheck %s --check-prefix=WHOLE
// WHOLE: {{^}}{{[0-9]+}} entries are whole, 0 were damaged

// Damage costs a warning and a compilation, and is repaired by it.
// RUN: find cache -type f -size +100c -exec truncate --size=100 {} +
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=DAMAGED
// DAMAGED: qd-run: warning: the cached {{.*}} is damaged: it is compiled again
// DAMAGED: {{^}}compiled in
// DAMAGED: a = [2, 4, 6]
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=AGAIN --implicit-check-not=warning
// RUN: not %{cached} qd-cache verify | FileCheck %s --check-prefix=VERIFY
// VERIFY: damaged, removed: {{.*}}cache
// VERIFY: {{^}}{{[0-9]+}} entries are whole, {{[1-9][0-9]*}} were damaged
// RUN: %{cached} qd-cache verify | FileCheck %s --check-prefix=WHOLE

// RUN: qd-cache clear --dir cache | FileCheck %s --check-prefix=CLEAR
// CLEAR: removed {{[1-9][0-9]*}} entries, {{[0-9]+}} bytes
// RUN: %{cached} QD_CACHE_SIZE=5M qd-cache stats | FileCheck %s --check-prefix=STATS
//      STATS: folder   {{.*}}cache
// STATS-NEXT: entries  0
// STATS-NEXT: bytes    0 of at most 5242880
// RUN: %{run} | FileCheck %s --check-prefix=FIRST

// A folder that cannot be written, and a size that is none, cost a warning.
// RUN: env QD_CACHE_DIR=%t/double.mlir qd-run double.mlir --arg a=[1,2,3] --print a 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
// UNWRITABLE: qd-run: warning: the cache cannot be
// UNWRITABLE: {{^}}compiled in
// UNWRITABLE: a = [2, 4, 6]
// RUN: env QD_CACHE_SIZE=lots %{run} 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: qd-run: warning: QD_CACHE_SIZE=lots: expected a number of bytes, as in 500M or 2G
// SIZE: a = [2, 4, 6]
// RUN: not env QD_CACHE_DIR= qd-cache stats 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: qd-cache: there is no cache: QD_CACHE_DIR is empty, or the user has no folder

//--- double.mlir
qd.grid.kernel @double(%a: memref<?xi32> {qd.name = "a"}) {
  %zero = arith.constant 0 : index
  %n = memref.dim %a, %zero : memref<?xi32>
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %x : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}

//--- moved.mlir
// The same, elsewhere.


qd.grid.kernel   @double(%a: memref<?xi32> {qd.name = "a"}) {
  %zero = arith.constant 0 : index // Zero.
  %n = memref.dim %a, %zero : memref<?xi32>
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %x : i32


    memref.store %y, %a[%i] : memref<?xi32>
  }
}

//--- other.mlir
qd.grid.kernel @double(%a: memref<?xi32> {qd.name = "a"}) {
  %zero = arith.constant 0 : index
  %n = memref.dim %a, %zero : memref<?xi32>
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %w = arith.addi %x, %x : i32
    %y = arith.addi %w, %x : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
