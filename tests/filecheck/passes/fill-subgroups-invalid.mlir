// Blocks are rounded up once phases are bodies.

// RUN: qd-opt %s --qd-select-subgroup-size=wave=32 --qd-fill-subgroups --verify-diagnostics

qd.grid.kernel @phase(%a: memref<?xi32>, %blocks: index) {
  // expected-error @+1 {{'qd.grid.phase' op has a subgroup that is filled in part, and is no outlined body: run qd-outline-phases first}}
  qd.grid.phase blocks(%blocks) threads(40) {
    %thread = qd.simt.block.thread_id
    %lane = qd.simt.lane_id
    memref.store %lane, %a[%thread] : memref<?xi32>
  }
}
