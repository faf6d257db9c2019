// What was selected, as a page: sizes as bars, forms with their sources, terms with their rules. Text
// of the program is escaped, and nothing else is loaded.

// RUN: qd-opt %s --to=subgroup --target=amdgpu:gfx1100,select --explain=%t.html -o /dev/null
// RUN: FileCheck %s --input-file=%t.html
// RUN: FileCheck %s --input-file=%t.html --check-prefix=ALONE
// RUN: qd-opt %s --to=subgroup --target=amdgpu:gfx1100,select --explain=%t.again -o /dev/null
// RUN: cmp %t.html %t.again
// RUN: qd-translate %s --target=cpu,select --explain=%t.cpu -o /dev/null
// RUN: FileCheck %s --input-file=%t.cpu --check-prefix=CPU
// RUN: qd-run %s --target=cpu,select --explain=%t.run --arg 'in=[1,-2,3]' --print out | FileCheck %s --check-prefix=RAN
// RUN: FileCheck %s --input-file=%t.run --check-prefix=CPU
// RUN: not qd-opt %s --to=subgroup --target=cpu,fixed --explain=%t.none -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not qd-translate %s --target=cpu,fixed --explain=%t.none -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: cp %s %t.mlir
// RUN: not qd-opt %t.mlir --to=subgroup --target=cpu,select --explain=%t.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not qd-translate %t.mlir --target=cpu,select --explain=%t.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not qd-run %t.mlir --target=cpu,select --explain=%t.mlir --arg 'in=[1,-2,3]' --print out 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: cmp %s %t.mlir
// RUN: not qd-opt %t.mlir --to=subgroup --target=cpu,select --explain=%t.out -o %t.out 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not qd-translate %t.mlir --target=cpu,select --explain=%t.out -o %t.out 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not qd-opt %s --to=subgroup --target=cpu,select --explain=- -o /dev/null 2>&1 | FileCheck %s --check-prefix=DASH
// RUN: not qd-opt %s --to=subgroup --target=cpu,select --explain=%t/no/folder -o /dev/null 2>&1 | FileCheck %s --check-prefix=FOLDER

// CHECK:      <!doctype html>
// CHECK:      <h2>@k_{{.*}}</h2>
// CHECK-NEXT: <p>amdgpu:gfx1100, 256 threads, group 0: <b>wave
// CHECK:      <table class="bars">
// CHECK:      wave 32</th>
// CHECK:      <div class="time" style="width: {{[0-9.]+}}%"></div>
// CHECK:      wave 64</th>
// CHECK:      <h3>Forms</h3>
// CHECK:      <td><code>qd.simt.reduce_all</code></td><td><small>loc(&quot;a&lt;b&gt;&amp;&quot;)</small></td><td><b>expansion</b>
// CHECK:      <h3>Terms</h3>
// CHECK:      <tr><td>qd.simt.count_true</td><td><small>loc({{.*}})</small></td><td><code>(reduce_all (zext.i32 v{{[0-9]+}}))</code></td><td><a href="#rule-count-is-sum">
// CHECK:      <tr id="rule-count-is-sum">

// ALONE-NOT: src=
// ALONE-NOT: <b>&
// ALONE-NOT: http
// ALONE-NOT: <script
// ALONE-NOT: a<b>

// CPU: <p>cpu, 256 threads

// RAN: out = [4, 4, 4]

// NONE: --explain={{.*}}.none: nothing was selected: what is explained is compiled for a target with costs, without the option 'fixed', and has a body whose threads fill subgroups

// OTHER: --explain=[[FILE:.*]]: '[[FILE]]' is read or written besides

// DASH: qd-opt: --explain=-: a page goes to a file

// FOLDER: qd-opt: --explain={{.*}}: No such file or directory

qd.grid.kernel @k(%in: memref<3xi32> {qd.name = "in"}, %out: memref<3xi32> {qd.name = "out"}) {
  %blocks = arith.constant 1 : index
  qd.grid.phase blocks(%blocks) threads(256) {
    %zero = arith.constant 0 : i32
    %three = arith.constant 3 : index
    %last = arith.constant 2 : index
    %t = qd.simt.block.thread_id
    %here = arith.cmpi ult, %t, %three : index
    %at = arith.minui %t, %last : index
    %read = memref.load %in[%at] : memref<3xi32>
    %v = arith.select %here, %read, %zero : i32
    %p = arith.cmpi sgt, %v, %zero : i32
    %count = qd.simt.count_true %p tile(2)
    %most = qd.simt.reduce maxsi %count : i32
    %whole = qd.simt.broadcast_first %most : i32
    %sum = qd.simt.reduce_all add %v tile(2) : i32 loc("a<b>&")
    %more = arith.addi %count, %sum : i32
    %both = arith.maxsi %more, %whole : i32
    scf.if %here {
      memref.store %both, %out[%t] : memref<3xi32>
    }
  }
}
