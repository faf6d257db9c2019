// Lanes with equal values are found by a ballot of each bit. In a kernel with a loop that compares and swaps, which an atomic minimum
// of floats becomes, they are found by words: the driver's compiler would run out of predicates.
// RUN: qd-translate %s --target=nvptx:sm_90 --emit=asm | FileCheck %s

// CHECK-LABEL: .visible .entry plain
// CHECK:         vote.sync.ballot.b32 b7, p, -1; @!p mad.lo.s32 b7
// CHECK-LABEL: .visible .entry swaps
// CHECK:         cas.b32
// CHECK-NOT:     vote.sync.ballot
// CHECK:         shl.b32 [[WORD:%r[0-9]+]], {{%r[0-9]+}}, 24;
// CHECK-NEXT:    match.any.sync.b32 {{%r[0-9]+}}, [[WORD]], -1;
// CHECK-NOT:     vote.sync.ballot
qd.grid.kernel @plain(%a: memref<?xi32>, %o: memref<?xi64>) {
  %one = arith.constant 1 : index
  qd.grid.phase blocks(%one) threads(64) {
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xi32>
    %same = qd.simt.match_any %x bits(8) : i32
    memref.store %same, %o[%t] : memref<?xi64>
  }
}
qd.grid.kernel @swaps(%a: memref<?xi32>, %f: memref<?xf32>, %o: memref<?xi64>) {
  %one = arith.constant 1 : index
  qd.grid.phase blocks(%one) threads(64) {
    %t = qd.simt.block.thread_id
    %c0 = arith.constant 0 : index
    %x = memref.load %a[%t] : memref<?xi32>
    %y = memref.load %f[%t] : memref<?xf32>
    %old = qd.grid.atomic.rmw minnumf %y, %f[%c0] device relaxed : memref<?xf32>
    %same = qd.simt.match_any %x bits(8) : i32
    memref.store %same, %o[%t] : memref<?xi64>
  }
}
