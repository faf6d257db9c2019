// Plans as a page: a box for each step, in the box of the loop or `if` that it is in, a line
// for each wait, and why, by what two steps do with the same memory.

// RUN: qd-translate %s --emit=plan-html -o %t.html && qd-translate %s --emit=plan -o %t.json
// RUN: %python %S/Inputs/graph.py %t.html %t.json | FileCheck %s --check-prefix=GRAPH
// GRAPH: 11 boxes, 7 lines, nothing loaded
// RUN: qd-translate %S/../../run/sort.mlir --target=nvptx:sm_90 --emit=plan-html -o %t.sort.html
// RUN: qd-translate %S/../../run/sort.mlir --target=nvptx:sm_90 --emit=plan -o %t.sort.json
// RUN: %python %S/Inputs/graph.py %t.sort.html %t.sort.json | FileCheck %s --check-prefix=SORT
// SORT: boxes, {{.*}} lines, nothing loaded

// RUN: FileCheck %s --input-file=%t.html
//      CHECK: <h2 id="k">k</h2>
//      CHECK: <a href="#k-cpu-0">
//      CHECK: <li>64 threads × blocks blocks</li>
//      CHECK: <b>1 write &lt;y&gt;</b> launch
//      CHECK: <li>128 threads × ⌈rows(y) / 128⌉ blocks</li>
//      CHECK: <li>writes y</li>
//      CHECK: <b>2 read y</b> launch
//      CHECK: <li>reads y</li>
// CHECK-NEXT: <li>writes z</li>
// CHECK-NEXT: <li>waits for 1 write &lt;y&gt;: reads what it writes: y</li>
//      CHECK: <b>3 fill</b>
//      CHECK: <li>z[2 to 9] = 1</li>
// CHECK-NEXT: <li>writes z[2 to 9]</li>
// CHECK-NEXT: <li>waits for 0 write x: the fill waits for all before it</li>
// CHECK-NEXT: <li>waits for 2 read y: writes what it writes: z[2 to 9]</li>
//      CHECK: <b>4 write x half</b> launch
//      CHECK: <li>waits for 3 fill: what is behind the fill waits for it</li>
//      CHECK: <b>5 do_while</b>
//      CHECK: <li>again while flag ≠ 0</li>
//      CHECK: <li>waits for 4 write x half: writes what it writes: x</li>
//      CHECK: <b>6 count</b> launch
//      CHECK: <b>7 if</b>
//      CHECK: <li>if flag ≠ 0</li>
//      CHECK: <li>waits for 6 count: reads what it writes: flag</li>
//      CHECK: <b>8 write x</b> launch
//      CHECK: <b>9 dispatch</b>
//      CHECK: <li>other if rows(x) &lt; 5</li>
// CHECK-NEXT: <li>other otherwise</li>
//      CHECK: <h2 id="other">other</h2>

// An artifact has no bodies to look at: that steps wait is drawn, and not why.
// RUN: qd-translate %s -o %t.qdart && qd-translate %t.qdart --emit=plan-html -o %t.none.html
// RUN: %python %S/Inputs/graph.py %t.none.html %t.json | FileCheck %s --check-prefix=GRAPH
// RUN: FileCheck %s --input-file=%t.none.html --check-prefix=NONE
// NONE: <li>waits for 1 write &lt;y&gt;: as the plan has it</li>
// RUN: head -c 100 %t.qdart > %t.cut
// RUN: not qd-translate %t.cut --emit=plan-html 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: qd-translate: {{.*}}.cut: the artifact is damaged: it is cut short
qd.grid.kernel @k(%x: memref<?xi32> {qd.name = "x"}, %y: memref<?xi32> {qd.name = "y"}, %z: memref<?xi32> {qd.name = "z"},
    %flag: memref<i32> {qd.name = "flag"}, %blocks: index {qd.name = "blocks"}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c9 = arith.constant 9 : index
  %c128 = arith.constant 128 : index
  %one = arith.constant 1 : i32
  %rows = memref.dim %y, %c0 : memref<?xi32>
  %few = memref.dim %x, %c0 : memref<?xi32>
  %whole = arith.ceildivui %rows, %c128 : index
  %half = qd.grid.view %x[%c0] [%c9] : memref<?xi32> to memref<?xi32>
  qd.grid.phase "write x" blocks(%blocks) threads(64) {
    %i = qd.simt.block.thread_id
    memref.store %one, %x[%i] : memref<?xi32>
  }
  qd.grid.phase "write <y>" blocks(%whole) threads(128) {
    %i = qd.simt.block.thread_id
    memref.store %one, %y[%i] : memref<?xi32>
  }
  qd.grid.phase "read y" blocks(%blocks) threads(256) {
    %i = qd.simt.block.thread_id
    %v = memref.load %y[%i] : memref<?xi32>
    memref.store %v, %z[%i] : memref<?xi32>
  }
  qd.grid.fill %z[%c2 to %c9] = %one : memref<?xi32>
  qd.grid.phase "write x half" blocks(%blocks) threads(64) {
    %i = qd.simt.block.thread_id
    memref.store %one, %half[%i] : memref<?xi32>
  }
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.phase "count" blocks(%blocks) threads(64) {
      %i = qd.simt.block.thread_id
      %old = memref.atomic_rmw addi %one, %flag[] : (i32, memref<i32>) -> i32
    }
    qd.grid.if %flag : memref<i32> {
      qd.grid.phase "write x" blocks(%blocks) threads(64) {
        %i = qd.simt.block.thread_id
        memref.store %one, %x[%i] : memref<?xi32>
      }
    }
  }
  qd.grid.dispatch(%x : memref<?xi32>) {
    qd.grid.variant @other when {
      %small = arith.cmpi ult, %few, %c5 : index
      qd.yield %small : i1
    }
    qd.grid.variant @other
  }
}

qd.grid.kernel @other(%x: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1 : i32
  qd.grid.fill %x[%c0 to %c9] = %one : memref<?xi32>
}
