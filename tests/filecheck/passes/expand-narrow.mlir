// Values of less than 32 bits become what every target has: collectives on 32 bits, arithmetic of f32 whose results
// are rounded, and memory of integers.
// RUN: qd-opt %s --qd-expand-narrow --split-input-file | FileCheck %s

// A bf16 is its bits. They are an f32's upper half, of which no NaN signals; the result is rounded to nearest.
// CHECK-LABEL: qd.grid.kernel @arithmetic(
// CHECK-SAME:    %[[A:.*]]: memref<?xi16> {qd.dtype = "bf16"}, %[[S:.*]]: i16 {qd.dtype = "f16"})
// CHECK:         %[[X:.*]] = memref.load %[[A]][%{{.*}}] : memref<?xi16>
// CHECK:         %[[WORD:.*]] = arith.extui %[[X]] : i16 to i32
// CHECK:         %[[UPPER:.*]] = arith.shli %[[WORD]], %c16
// CHECK:         %[[IS_NAN:.*]] = arith.cmpi ugt
// CHECK:         %[[QUIET:.*]] = arith.ori %[[UPPER]], %c4194304
// CHECK:         %[[BITS:.*]] = arith.select %[[IS_NAN]], %[[QUIET]], %[[UPPER]]
// CHECK:         %[[FLOAT:.*]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK:         %[[SUM:.*]] = arith.addf %[[FLOAT]], %{{.*}} : f32
// CHECK:         arith.bitcast %[[SUM]] : f32 to i32
// CHECK:         %[[ROUNDED:.*]] = arith.trunci %{{.*}} : i32 to i16
// CHECK:         memref.store %[[ROUNDED]], %[[A]]
// Signs are bits.
// CHECK-NEXT:    %[[SIGN:.*]] = arith.constant -32768 : i16
// CHECK-NEXT:    %[[NEGATED:.*]] = arith.xori %[[X]], %[[SIGN]] : i16
// CHECK-NEXT:    memref.store %[[NEGATED]], %[[A]]
qd.grid.kernel @arithmetic(%a: memref<?xbf16>, %s: f16) {
  %one = arith.constant 1 : index
  qd.grid.phase blocks(%one) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xbf16>
    %y = arith.addf %x, %x : bf16
    memref.store %y, %a[%i] : memref<?xbf16>
    %z = arith.negf %x : bf16
    memref.store %z, %a[%i] : memref<?xbf16>
  }
}

// -----

// A boolean in memory is a byte; that of an update is 0 or 1 as well.
// CHECK-LABEL: qd.grid.kernel @booleans(
// CHECK-SAME:    %[[A:.*]]: memref<?xi8> {qd.dtype = "bool"})
// CHECK:         %[[BYTE:.*]] = memref.load %[[A]]
// CHECK:         %[[X:.*]] = arith.cmpi ne, %[[BYTE]]
// CHECK:         %[[SET:.*]] = arith.extui %[[X]] : i1 to i8
// CHECK:         %[[OLD:.*]] = qd.grid.atomic.rmw xor %[[SET]], %[[A]][%{{.*}}] device relaxed : memref<?xi8>
// CHECK:         arith.cmpi ne, %[[OLD]]
qd.grid.kernel @booleans(%a: memref<?xi1>) {
  %one = arith.constant 1 : index
  qd.grid.phase blocks(%one) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi1>
    %old = qd.grid.atomic.rmw add %x, %a[%i] device relaxed : memref<?xi1>
    memref.store %old, %a[%i] : memref<?xi1>
  }
}

// -----

// What is moved is extended, and signed extremes are those of the upper bits.
// CHECK-LABEL: qd.grid.kernel @integers(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[WIDE:.*]] = arith.extui %[[X]] : i8 to i32
// CHECK:         %[[MOVED:.*]] = qd.simt.shuffle xor %[[WIDE]], %{{.*}} : i32
// CHECK:         %[[NARROW:.*]] = arith.trunci %[[MOVED]] : i32 to i8
// CHECK:         %[[AGAIN:.*]] = arith.extui %[[NARROW]] : i8 to i32
// CHECK:         %[[UPPER:.*]] = arith.shli %[[AGAIN]], %c24
// CHECK:         %[[LEAST:.*]] = qd.simt.reduce_all minsi %[[UPPER]] : i32
// CHECK:         arith.shrui %[[LEAST]], %c24
// Only the bits that there were are compared.
// CHECK:         qd.simt.match_any %{{.*}} bits(8) : i32
// An integer that has no more than a word stays as it is.
// CHECK:         qd.simt.reduce_all add %{{.*}} : i64
qd.grid.kernel @integers(%a: memref<?xi8>, %m: memref<?xi64>) {
  %one = arith.constant 1 : index
  %three = arith.constant 3 : i32
  qd.grid.phase blocks(%one) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi8>
    %moved = qd.simt.shuffle xor %x, %three : i8
    %least = qd.simt.reduce_all minsi %moved : i8
    memref.store %least, %a[%i] : memref<?xi8>
    %same = qd.simt.match_any %least : i8
    %sum = qd.simt.reduce_all add %same : i64
    memref.store %sum, %m[%i] : memref<?xi64>
  }
}

// -----

// A sum is rounded after each combination, and an extreme once.
// CHECK-LABEL: qd.grid.kernel @floats(
// CHECK:         qd.simt.reduce_all %{{.*}} : f32 identity [-0.000000e+00 : f32] combiner {
// CHECK:           %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:           arith.bitcast %[[SUM]] : f32 to i32
// CHECK:           arith.trunci %{{.*}} : i32 to i16
// CHECK:           qd.yield %{{.*}} : f32
// CHECK:         qd.simt.reduce_all maxnumf %{{.*}} : f32
qd.grid.kernel @floats(%f: memref<?xf16>) {
  %one = arith.constant 1 : index
  qd.grid.phase blocks(%one) threads(64) {
    %i = qd.simt.block.thread_id
    %h = memref.load %f[%i] : memref<?xf16>
    %sum = qd.simt.reduce_all add %h : f16
    memref.store %sum, %f[%i] : memref<?xf16>
    %most = qd.simt.reduce_all maxnumf %h : f16
    memref.store %most, %f[%i] : memref<?xf16>
  }
}

// -----

// A region takes bits, zero-extended, and so does its identity.
// CHECK-LABEL: qd.grid.kernel @region(
// CHECK:         qd.simt.reduce_all %{{.*}} : i32 identity [255 : i32] combiner {
// CHECK-NEXT:    ^bb0(%[[L:.*]]: i32, %[[R:.*]]: i32):
// CHECK-DAG:       %[[LEFT:.*]] = arith.trunci %[[L]] : i32 to i8
// CHECK-DAG:       %[[RIGHT:.*]] = arith.trunci %[[R]] : i32 to i8
// CHECK:           %[[BOTH:.*]] = arith.andi %[[LEFT]], %[[RIGHT]] : i8
// CHECK:           %[[WIDE:.*]] = arith.extui %[[BOTH]] : i8 to i32
// CHECK:           qd.yield %[[WIDE]] : i32
qd.grid.kernel @region(%a: memref<?xi8>) {
  %one = arith.constant 1 : index
  qd.grid.phase blocks(%one) threads(64) {
    %i = qd.simt.block.thread_id
    %x = memref.load %a[%i] : memref<?xi8>
    %all = qd.simt.reduce_all %x : i8 identity [-1 : i8] combiner {
      ^bb0(%l: i8, %r: i8):
        %both = arith.andi %l, %r : i8
        qd.yield %both : i8
    }
    memref.store %all, %a[%i] : memref<?xi8>
  }
}

// -----

// An update of floats of 16 bits compares and swaps their bits.
// CHECK-LABEL: qd.grid.kernel @updates(
// CHECK-SAME:    %[[F:.*]]: memref<?xi16>
// CHECK:         %[[FIRST:.*]] = qd.grid.atomic.load %[[F]][%{{.*}}] device relaxed
// CHECK:         scf.while (%{{.*}} = %[[FIRST]]
// CHECK:         ^bb0(%[[SEEN:.*]]: i16, %{{.*}}: i1):
// CHECK:           arith.addf %{{.*}} : f32
// CHECK:           %[[NOW:.*]] = qd.grid.atomic.cas %[[SEEN]], %{{.*}}, %[[F]][%{{.*}}] device acq_rel : memref<?xi16>
// CHECK:           arith.cmpi eq, %[[NOW]], %[[SEEN]] : i16
qd.grid.kernel @updates(%f: memref<?xf16>, %x: f16) {
  %one = arith.constant 1 : index
  qd.grid.phase blocks(%one) threads(64) {
    %i = qd.simt.block.thread_id
    %old = qd.grid.atomic.rmw add %x, %f[%i] device acq_rel : memref<?xf16>
    memref.store %old, %f[%i] : memref<?xf16>
  }
}
