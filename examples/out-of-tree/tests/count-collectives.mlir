// A remark for each phase, or only for those with many collectives.
// RUN: my-opt %s --my-count-collectives -o %t 2>&1 | FileCheck %s --check-prefixes=ALL,MANY
// RUN: my-opt %s --my-count-collectives=more-than=1 -o %t 2>&1 | FileCheck %s --check-prefix=MANY --implicit-check-not="phase 'one'"
// RUN: not my-opt %s --my-count-collectives=more-than=-1 -o %t 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: pass 'my-count-collectives': option 'more-than': cannot read '-1'

qd.grid.kernel @phases(%a: memref<?xf32>, %blocks: index) {
  // MANY: [[#@LINE+1]]:3: remark: phase 'many': 3 collectives, 1 of them across the block
  qd.grid.phase "many" blocks(%blocks) threads(64) {
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xf32>
    %s = qd.simt.reduce add %x : f32
    %b = qd.simt.broadcast_first %s : f32
    qd.simt.block.sync
    memref.store %b, %a[%t] : memref<?xf32>
  }
  // ALL: [[#@LINE+1]]:3: remark: phase 'one': 1 collectives, 0 of them across the block
  qd.grid.phase "one" blocks(%blocks) threads(64) {
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xf32>
    %s = qd.simt.reduce_all add %x : f32
    memref.store %s, %a[%t] : memref<?xf32>
  }
  qd.grid.phase "none" blocks(%blocks) threads(64) {
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xf32>
    memref.store %x, %a[%t] : memref<?xf32>
  }
}
