// Upstream's passes neither merge collectives across regions, nor hoist them out
// of loops, nor sink them into branches: other threads would execute them. Plain
// arithmetic in the same places is moved, so that the passes do run here.

// RUN: qd-opt %s --allow-unregistered-dialect --cse | FileCheck %s --check-prefix=CSE
// RUN: qd-opt %s --allow-unregistered-dialect --loop-invariant-code-motion | FileCheck %s --check-prefix=LICM
// RUN: qd-opt %s --allow-unregistered-dialect --control-flow-sink | FileCheck %s --check-prefix=SINK
// RUN: qd-opt %s --allow-unregistered-dialect --canonicalize --cse --loop-invariant-code-motion --control-flow-sink --sccp --canonicalize \
// RUN:   | FileCheck %s --check-prefix=ALL

// The same collective outside and inside a branch.
// CSE-LABEL: func.func @across_regions
// CSE:         qd.simt.reduce_all
// CSE-NEXT:    qd.simt.ballot
// CSE-NEXT:    qd.simt.shuffle
// CSE-NEXT:    qd.simt.block.reduce_all
// CSE-NEXT:    %[[SUM:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CSE:         scf.if
// CSE-NEXT:      qd.simt.reduce_all
// CSE-NEXT:      qd.simt.ballot
// CSE-NEXT:      qd.simt.shuffle
// CSE-NEXT:      qd.simt.block.reduce_all
// CSE-NOT:       arith.addi
// CSE:           "test.use"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[SUM]])
//
// ALL-LABEL: func.func @across_regions
// ALL:         qd.simt.reduce_all
// ALL:         scf.if
// ALL:           qd.simt.reduce_all
// ALL:           qd.simt.ballot
// ALL:           qd.simt.shuffle
// ALL:           qd.simt.block.reduce_all
func.func @across_regions(%v: i32, %p: i1, %c: i1) {
  %0 = qd.simt.reduce_all add %v : i32
  %1 = qd.simt.ballot %p
  %2 = qd.simt.shuffle xor %v, %v : i32
  %3 = qd.simt.block.reduce_all add %v : i32
  %4 = arith.addi %v, %v : i32
  "test.use"(%0, %1, %2, %3, %4) : (i32, i64, i32, i32, i32) -> ()
  scf.if %c {
    %5 = qd.simt.reduce_all add %v : i32
    %6 = qd.simt.ballot %p
    %7 = qd.simt.shuffle xor %v, %v : i32
    %8 = qd.simt.block.reduce_all add %v : i32
    %9 = arith.addi %v, %v : i32
    "test.use"(%5, %6, %7, %8, %9) : (i32, i64, i32, i32, i32) -> ()
  }
  return
}

// Invariant in a loop, whose iterations other threads may not share.
// LICM-LABEL: func.func @in_a_loop
// LICM:         arith.addi
// LICM:         qd.simt.lanemask
// LICM:         scf.for
// LICM-NEXT:      qd.simt.inclusive_scan
// LICM-NEXT:      qd.simt.any
// LICM-NEXT:      qd.simt.broadcast
// LICM-NEXT:      qd.simt.match_any
// LICM-NEXT:      qd.simt.bitonic_sort_kv
// LICM-NEXT:      qd.simt.broadcast_first
// LICM-NEXT:      qd.simt.all_equal
// LICM-NEXT:      qd.simt.block.reduce
// LICM-NEXT:      qd.simt.block.inclusive_scan
// LICM-NEXT:      qd.simt.block.exclusive_scan
// LICM-NEXT:      qd.simt.sync
//
// ALL-LABEL: func.func @in_a_loop
// ALL:         scf.for
// ALL-NEXT:      qd.simt.inclusive_scan
// ALL-NEXT:      qd.simt.any
// ALL-NEXT:      qd.simt.broadcast
// ALL-NEXT:      qd.simt.match_any
// ALL-NEXT:      qd.simt.bitonic_sort_kv
// ALL-NEXT:      qd.simt.broadcast_first
// ALL-NEXT:      qd.simt.all_equal
// ALL-NEXT:      qd.simt.block.reduce
// ALL-NEXT:      qd.simt.block.inclusive_scan
// ALL-NEXT:      qd.simt.block.exclusive_scan
// ALL-NEXT:      qd.simt.sync
func.func @in_a_loop(%v: i32, %p: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = arith.addi %v, %v : i32
    %m = qd.simt.lanemask lt %v : i32
    %1 = qd.simt.inclusive_scan add %v : i32
    %2 = qd.simt.any %p
    %3 = qd.simt.broadcast %v, %v : i32
    %4 = qd.simt.match_any %v : i32
    %5, %6 = qd.simt.bitonic_sort_kv %v, %v : i32, i32
    %7 = qd.simt.broadcast_first %v : i32
    %8 = qd.simt.all_equal %v : i32
    %9 = qd.simt.block.reduce add %v : i32
    %10 = qd.simt.block.inclusive_scan add %v : i32
    %11 = qd.simt.block.exclusive_scan add %v : i32
    qd.simt.sync
    "test.use"(%0, %1, %2, %3, %4, %5, %6, %m) : (i32, i32, i1, i32, i64, i32, i32, i32) -> ()
    "test.use"(%7, %8, %9, %10, %11) : (i32, i1, i32, i32, i32) -> ()
  }
  return
}

// Used in a branch alone, but computed where all threads take part.
// SINK-LABEL: func.func @before_a_branch
// SINK-NEXT:    qd.simt.reduce
// SINK-NEXT:    qd.simt.exclusive_scan
// SINK-NEXT:    qd.simt.all
// SINK-NEXT:    qd.simt.segmented_reduce
// SINK-NEXT:    qd.simt.rotate
// SINK-NEXT:    qd.simt.ballot_first_n
// SINK-NEXT:    scf.if
// SINK-NEXT:      arith.addi
//
// ALL-LABEL: func.func @before_a_branch
// ALL-NEXT:    qd.simt.reduce
// ALL-NEXT:    qd.simt.exclusive_scan
// ALL-NEXT:    qd.simt.all
// ALL-NEXT:    qd.simt.segmented_reduce
// ALL-NEXT:    qd.simt.rotate
// ALL-NEXT:    qd.simt.ballot_first_n
// ALL-NEXT:    scf.if
func.func @before_a_branch(%v: i32, %p: i1, %c: i1) {
  %0 = arith.addi %v, %v : i32
  %1 = qd.simt.reduce add %v : i32
  %2 = qd.simt.exclusive_scan add %v : i32
  %3 = qd.simt.all %p
  %4 = qd.simt.segmented_reduce add %v heads %p : i32
  %5 = qd.simt.rotate %v, %v : i32
  %6 = qd.simt.ballot_first_n 32 %p
  scf.if %c {
    "test.use"(%0, %1, %2, %3, %4, %5, %6) : (i32, i32, i32, i1, i32, i32, i32) -> ()
  }
  return
}

// A barrier stays where it is, and memory is read again behind it.
// ALL-LABEL: func.func @barriers
// ALL-NEXT:    memref.load
// ALL-NEXT:    qd.simt.block.sync
// ALL-NEXT:    memref.load
// ALL-NEXT:    qd.simt.block.sync
// ALL-NEXT:    memref.load
func.func @barriers(%m: memref<i32>) {
  %0 = memref.load %m[] : memref<i32>
  qd.simt.block.sync
  %1 = memref.load %m[] : memref<i32>
  qd.simt.block.sync
  %2 = memref.load %m[] : memref<i32>
  "test.use"(%0, %1, %2) : (i32, i32, i32) -> ()
  return
}
