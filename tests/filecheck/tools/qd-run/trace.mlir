// With --trace what the stream did is in the file as well, a row of the device; with --time each step
// by itself.

// RUN: qd-run %s --target=cpu --arg a=iota[64] --repeat 2 --quiet --trace=%t.json
// RUN: tr '}' '\n' < %t.json | FileCheck %s --check-prefix=CALLS --implicit-check-not='"name":"twice_phase'
// RUN: qd-run %s --target=cpu --arg a=iota[64] --time --quiet --trace=%t.steps.json
// RUN: tr '}' '\n' < %t.steps.json | FileCheck %s --check-prefix=STEPS

// CALLS: "name":"cpu"
// CALLS: "name":"stream 0"
// CALLS: "name":"copy from the host","ph":"X"
// CALLS: "name":"twice","ph":"X"
// CALLS: "name":"twice","ph":"X"
// STEPS: "name":"twice","ph":"X"
// STEPS: "kernel":"twice"
// STEPS: "name":"twice_phase_0","ph":"X"

qd.grid.kernel @twice(%a: memref<?xi32> {qd.name = "a"}) {
  %one = arith.constant 1 : index
  qd.grid.phase blocks(%one) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %x : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
