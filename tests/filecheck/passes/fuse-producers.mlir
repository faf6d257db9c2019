// An elementwise phase that writes scratch is recomputed where the scratch is read, if
// that has the same results and costs no more, and only then.

// RUN: qd-opt %s --qd-fuse-producers --canonicalize --split-input-file | FileCheck %s
// RUN: qd-opt %s --qd-fuse-producers=print-plan=true --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY

// The phase is gone, and nobody touches what it wrote. Its live count is no matter: who
// loads an element says that it was written.
// WHY-LABEL: producers of @map
// WHY-NEXT:    "square" goes into "sum"
// CHECK-LABEL: qd.grid.kernel @map(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32> {qd.scratch}
// CHECK-NOT:     for_each
// CHECK:         qd.grid.phase "sum"
// CHECK:           %[[I:.*]] = arith.addi
// CHECK-NEXT:      %[[V:.*]] = memref.load %[[X]][%[[I]]]
// CHECK-NEXT:      %[[W:.*]] = arith.mulf %[[V]], %[[V]]
// CHECK-NEXT:      qd.simt.block.reduce add %[[W]]
// CHECK-NOT:     %[[Y]]
qd.grid.kernel @map(%x: memref<?xf32>, %y: memref<?xf32> {qd.scratch}, %o: memref<?xf32>, %n: memref<i32>, %g: index) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %len = memref.dim %x, %c0 : memref<?xf32>
  qd.grid.for_each "square" %i to %len count(%n : memref<i32>) {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = arith.mulf %v, %v : f32
    memref.store %w, %y[%i] : memref<?xf32>
  }
  qd.grid.phase "sum" blocks(%g) threads(256) {
    %b = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %start = arith.muli %b, %c256 : index
    %i = arith.addi %start, %t : index
    %w = memref.load %y[%i] : memref<?xf32>
    %s = qd.simt.block.reduce add %w : f32
    memref.store %s, %o[%b] : memref<?xf32>
  }
}

// -----

// One producer goes into the next, and both into a reader that is in a loop. What is
// under a condition in a body stays under it.
// WHY-LABEL: producers of @chain
// WHY-NEXT:    "shift" goes into "double"
// WHY-NEXT:    "double" goes into "use", "use again"
// CHECK-LABEL: qd.grid.kernel @chain(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xi32>
// CHECK-NOT:     "shift"
// CHECK-NOT:     "double"
// CHECK:         qd.grid.for_each "use" %[[I:.*]] to
// CHECK-NEXT:      %[[IS:.*]] = arith.cmpi ne, %[[I]], %c0
// CHECK-NEXT:      %[[V:.*]] = scf.if %[[IS]] -> (i32) {
// CHECK-NEXT:        %[[J:.*]] = arith.subi %[[I]], %c1
// CHECK-NEXT:        memref.load %[[X]][%[[J]]]
// CHECK:           %[[W:.*]] = arith.addi %[[V]], %[[V]]
// CHECK-NEXT:      memref.store %[[W]]
// CHECK:         qd.grid.do_while
// CHECK-NEXT:      qd.grid.for_each "use again"
// CHECK:             memref.load %[[X]]
qd.grid.kernel @chain(%x: memref<?xi32>, %y: memref<?xi32> {qd.scratch}, %z: memref<?xi32> {qd.scratch}, %o: memref<?xi32>, %flag: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %len = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "shift" %i to %len {
    %is = arith.cmpi ne, %i, %c0 : index
    %v = scf.if %is -> i32 {
      %j = arith.subi %i, %c1 : index
      %before = memref.load %x[%j] : memref<?xi32>
      scf.yield %before : i32
    } else {
      scf.yield %zero : i32
    }
    memref.store %v, %y[%i] : memref<?xi32>
  }
  qd.grid.for_each "double" %i to %len {
    %v = memref.load %y[%i] : memref<?xi32>
    %w = arith.addi %v, %v : i32
    memref.store %w, %z[%i] : memref<?xi32>
  }
  qd.grid.for_each "use" %i to %len {
    %w = memref.load %z[%i] : memref<?xi32>
    memref.store %w, %o[%i] : memref<?xi32>
  }
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.for_each "use again" %i to %len {
      %w = memref.load %z[%i] : memref<?xi32>
      memref.store %w, %o[%i] : memref<?xi32>
    }
  }
}

// -----

// Of two outputs the one that is seen is still written. A value that is the same for
// all elements may be a fill.
// WHY-LABEL: producers of @outputs
// WHY-NEXT:    "both" goes into "use"
// WHY-NEXT:    "both" stays: argument 2 is not 'qd.scratch'
// WHY-NEXT:    "fill" goes into "use"
// CHECK-LABEL: qd.grid.kernel @outputs(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xi32>, %[[Y:[^:]*]]: memref<?xi32> {qd.scratch}, %[[Z:[^:]*]]: memref<?xi32>, %[[ONES:[^:]*]]: memref<?xi32> {qd.scratch}
// CHECK:         qd.grid.for_each "both"
// CHECK-NOT:       %[[Y]]
// CHECK:           memref.store %{{.*}}, %[[Z]]
// CHECK-NOT:     fill
// CHECK:         qd.grid.for_each "use" %[[I:.*]] to
// CHECK-NEXT:      %[[V:.*]] = memref.load %[[X]][%[[I]]]
// CHECK-NEXT:      %[[W:.*]] = arith.muli %[[V]], %[[V]]
// CHECK-NEXT:      memref.load %[[Z]]
// CHECK-NEXT:      arith.addi
// CHECK-NEXT:      arith.addi %{{.*}}, %c1_i32
qd.grid.kernel @outputs(%x: memref<?xi32>, %y: memref<?xi32> {qd.scratch}, %z: memref<?xi32>, %ones: memref<?xi32> {qd.scratch}, %o: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %len = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "both" %i to %len {
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.muli %v, %v : i32
    memref.store %w, %y[%i] : memref<?xi32>
    memref.store %v, %z[%i] : memref<?xi32>
  }
  qd.grid.fill %ones[%c0 to %len] = %one : memref<?xi32>
  qd.grid.for_each "use" %i to %len {
    %v = memref.load %y[%i] : memref<?xi32>
    %w = memref.load %z[%i] : memref<?xi32>
    %u = memref.load %ones[%i] : memref<?xi32>
    %s = arith.addi %v, %w : i32
    %t = arith.addi %s, %u : i32
    memref.store %t, %o[%i] : memref<?xi32>
  }
}

// -----

// The same scratch is written again, in a loop: each load sees the producer before it.
// CHECK-LABEL: qd.grid.kernel @again(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xi32>, %[[Y:[^:]*]]: memref<?xi32> {qd.scratch}
// CHECK:         qd.grid.for_each "use a"
// CHECK:           arith.addi
// CHECK:         qd.grid.do_while
// CHECK-NEXT:      qd.grid.for_each "use b"
// CHECK:             arith.muli
// CHECK-NOT:     %[[Y]]
qd.grid.kernel @again(%x: memref<?xi32>, %y: memref<?xi32> {qd.scratch}, %o: memref<?xi32>, %n: memref<i32>, %flag: memref<i32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "a" %i to %len count(%n : memref<i32>) {
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.addi %v, %v : i32
    memref.store %w, %y[%i] : memref<?xi32>
  }
  qd.grid.for_each "use a" %i to %len count(%n : memref<i32>) {
    %w = memref.load %y[%i] : memref<?xi32>
    memref.store %w, %o[%i] : memref<?xi32>
  }
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.for_each "b" %i to %len count(%n : memref<i32>) {
      %v = memref.load %x[%i] : memref<?xi32>
      %w = arith.muli %v, %v : i32
      memref.store %w, %y[%i] : memref<?xi32>
    }
    qd.grid.for_each "use b" %i to %len count(%n : memref<i32>) {
      %w = memref.load %y[%i] : memref<?xi32>
      memref.store %w, %o[%i] : memref<?xi32>
    }
  }
}

// -----

// A hint asks for what is loaded instead, but not for what the phase asks for itself,
// nor for what is at another index.
// WHY-LABEL: producers of @hints
// WHY-NEXT:    "map" is not needed: no step loads argument 4
// CHECK-LABEL: qd.grid.kernel @hints(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xi32>, %[[Z:[^:]*]]: memref<?xi32>, %[[P:[^:]*]]: memref<?xindex>
// CHECK:         qd.grid.phase "use"
// CHECK:           memref.prefetch %[[X]][%[[T:.*]]], read, locality<2>, data
// CHECK-NEXT:      memref.prefetch %[[P]][%[[T]]], read
// CHECK-NOT:       memref.prefetch
// CHECK:           memref.load %[[Z]]
qd.grid.kernel @hints(%x: memref<?xi32>, %z: memref<?xi32>, %p: memref<?xindex>, %q: memref<?xi32>, %y: memref<?xi32> {qd.scratch}, %o: memref<?xi32>, %g: index) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "map" %i to %len {
    %a = memref.load %x[%i] : memref<?xi32>
    %b = memref.load %z[%i] : memref<?xi32>
    %j = memref.load %p[%i] : memref<?xindex>
    %c = memref.load %q[%j] : memref<?xi32>
    %d = arith.addi %a, %b : i32
    %e = arith.addi %c, %d : i32
    memref.store %e, %y[%i] : memref<?xi32>
  }
  qd.grid.phase "use" blocks(%g) threads(256) {
    %t = qd.simt.block.thread_id
    memref.prefetch %y[%t], read, locality<2>, data : memref<?xi32>
    %v = memref.load %z[%t] : memref<?xi32>
    memref.store %v, %o[%t] : memref<?xi32>
  }
}

// -----

// What it reads is not what it was when it is read again: a reader writes it, a step
// before does, another that may be the same memory, or the producer itself.
// WHY-LABEL: producers of @changed
// WHY-NEXT:    "a" stays: "in place" writes argument 0, which it reads
// WHY-NEXT:    "b" stays: "do_while" writes argument 0, which it reads
// WHY-NEXT:    "use b" stays: argument 1 is not 'qd.scratch'
// WHY-NEXT:    "c" stays: "other" writes argument 4, which it reads
// WHY-NEXT:    "d" stays: it reads and writes argument 0
// CHECK-LABEL: qd.grid.kernel @changed(
// CHECK-COUNT-4: memref.store %{{.*}}, %{{y.*|arg[2367]}}[
qd.grid.kernel @changed(%x: memref<?xi32>, %o: memref<?xi32>, %y0: memref<?xi32> {qd.scratch}, %y1: memref<?xi32> {qd.scratch}, %u: memref<?xi32> {qd.may_alias}, %v: memref<?xi32> {qd.may_alias}, %y2: memref<?xi32> {qd.scratch}, %y3: memref<?xi32> {qd.scratch}, %flag: memref<i32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %len = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "a" %i to %len {
    %e = memref.load %x[%i] : memref<?xi32>
    memref.store %e, %y0[%i] : memref<?xi32>
  }
  qd.grid.for_each "in place" %i to %len {
    %e = memref.load %y0[%i] : memref<?xi32>
    memref.store %e, %x[%i] : memref<?xi32>
  }
  qd.grid.for_each "b" %i to %len {
    %e = memref.load %x[%i] : memref<?xi32>
    memref.store %e, %y1[%i] : memref<?xi32>
  }
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.for_each "use b" %i to %len {
      %e = memref.load %y1[%i] : memref<?xi32>
      memref.store %e, %o[%i] : memref<?xi32>
    }
    qd.grid.for_each "write x" %i to %len {
      %e = memref.load %o[%i] : memref<?xi32>
      memref.store %e, %x[%i] : memref<?xi32>
    }
  }
  qd.grid.for_each "c" %i to %len {
    %e = memref.load %u[%i] : memref<?xi32>
    memref.store %e, %y2[%i] : memref<?xi32>
  }
  qd.grid.for_each "other" %i to %len {
    memref.store %one, %v[%i] : memref<?xi32>
  }
  qd.grid.for_each "use c" %i to %len {
    %e = memref.load %y2[%i] : memref<?xi32>
    memref.store %e, %o[%i] : memref<?xi32>
  }
  qd.grid.for_each "d" %i to %len {
    %e = memref.load %x[%i] : memref<?xi32>
    %f = arith.addi %e, %one : i32
    memref.store %e, %y3[%i] : memref<?xi32>
    memref.store %f, %x[%i] : memref<?xi32>
  }
  qd.grid.for_each "use d" %i to %len {
    %e = memref.load %y3[%i] : memref<?xi32>
    memref.store %e, %o[%i] : memref<?xi32>
  }
}

// -----

// Loads that may see what another step left: of the round before, or where fewer
// elements are written again.
// WHY-LABEL: producers of @left
// WHY-NEXT:    "a" stays: "use a" loads what others may have left in argument 1
// WHY-NEXT:    "b" stays: "fewer" may change how many elements of argument 2 are written
// WHY-NEXT:    "c" stays: others write more or fewer elements of argument 3
// WHY-NEXT:    "c again" stays: others write more or fewer elements of argument 3
// CHECK-LABEL: qd.grid.kernel @left(
// CHECK-COUNT-4: memref.store %{{.*}}, %{{y.*|arg[123]}}[
qd.grid.kernel @left(%x: memref<?xi32>, %y0: memref<?xi32> {qd.scratch}, %y1: memref<?xi32> {qd.scratch}, %y2: memref<?xi32> {qd.scratch}, %o: memref<?xi32>, %n: memref<i32>, %flag: memref<i32>, %half: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %len = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.for_each "use a" %i to %len {
      %e = memref.load %y0[%i] : memref<?xi32>
      memref.store %e, %o[%i] : memref<?xi32>
    }
    qd.grid.for_each "a" %i to %len {
      %e = memref.load %x[%i] : memref<?xi32>
      memref.store %e, %y0[%i] : memref<?xi32>
    }
  }
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.for_each "b" %i to %len count(%n : memref<i32>) {
      %e = memref.load %x[%i] : memref<?xi32>
      memref.store %e, %y1[%i] : memref<?xi32>
    }
    qd.grid.for_each "use b" %i to %len {
      %e = memref.load %y1[%i] : memref<?xi32>
      memref.store %e, %o[%i] : memref<?xi32>
    }
  }
  qd.grid.for_each "fewer" %i to %c1 {
    memref.store %one, %n[] : memref<i32>
  }
  qd.grid.for_each "c" %i to %len {
    %e = memref.load %x[%i] : memref<?xi32>
    memref.store %e, %y2[%i] : memref<?xi32>
  }
  qd.grid.for_each "c again" %i to %half {
    memref.store %one, %y2[%i] : memref<?xi32>
  }
  qd.grid.for_each "use c" %i to %len {
    %e = memref.load %y2[%i] : memref<?xi32>
    memref.store %e, %o[%i] : memref<?xi32>
  }
}

// -----

// Stores that are not of each element, once, at its own place.
// WHY-LABEL: producers of @stores
// WHY-NEXT:    "if" stays: it stores to argument 1 under a condition
// WHY-NEXT:    "elsewhere" stays: it stores to argument 2 at another index than its own
// WHY-NEXT:    "twice" stays: it stores to argument 3 more than once
// WHY-NEXT:    "row" stays: it stores to argument 4 at another index than its own
// WHY-NEXT:    "fill" stays: it does not fill argument 5 from the first element on
// WHY-NEXT:    "in place" stays: "in place" reads and writes argument 6
// CHECK-LABEL: qd.grid.kernel @stores(
// CHECK:         "if"
// CHECK:         "elsewhere"
// CHECK:         "twice"
// CHECK:         "row"
// CHECK:         qd.grid.fill
// CHECK:         "in place"
qd.grid.kernel @stores(%x: memref<?xi32>, %y0: memref<?xi32> {qd.scratch}, %y1: memref<?xi32> {qd.scratch}, %y2: memref<?xi32> {qd.scratch}, %rows: memref<?x2xi32> {qd.scratch}, %y3: memref<?xi32> {qd.scratch}, %y4: memref<?xi32> {qd.scratch}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %len = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "if" %i to %len {
    %e = memref.load %x[%i] : memref<?xi32>
    %is = arith.cmpi eq, %e, %one : i32
    scf.if %is {
      memref.store %e, %y0[%i] : memref<?xi32>
    }
  }
  qd.grid.for_each "elsewhere" %i to %len {
    %j = arith.addi %i, %c1 : index
    memref.store %one, %y1[%j] : memref<?xi32>
  }
  qd.grid.for_each "twice" %i to %len {
    memref.store %one, %y2[%i] : memref<?xi32>
    memref.store %one, %y2[%i] : memref<?xi32>
  }
  qd.grid.for_each "row" %i to %len {
    memref.store %one, %rows[%i, %c0] : memref<?x2xi32>
  }
  qd.grid.fill %y3[%c1 to %len] = %one : memref<?xi32>
  qd.grid.for_each "in place" %i to %len {
    %e = memref.load %y4[%i] : memref<?xi32>
    memref.store %e, %y4[%i] : memref<?xi32>
  }
}

// -----

// What else is done with the scratch is not followed.
// WHY-LABEL: producers of @others
// WHY-NEXT:    "a" stays: 'qd.grid.view' accesses argument 1
// WHY-NEXT:    "b" stays: 'memref.store' in "sum" accesses argument 2
// WHY-NEXT:    "c" stays: 'qd.grid.atomic.rmw' in "sum" accesses argument 3
// CHECK-LABEL: qd.grid.kernel @others(
// CHECK:         "a"
// CHECK:         "b"
// CHECK:         "c"
qd.grid.kernel @others(%x: memref<?xi32>, %y0: memref<?xi32> {qd.scratch}, %y1: memref<?xi32> {qd.scratch}, %y2: memref<?xi32> {qd.scratch}, %o: memref<?xi32>, %g: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %len = memref.dim %x, %c0 : memref<?xi32>
  %view = qd.grid.view %y0[%c0] [%len] : memref<?xi32> to memref<?xf32>
  qd.grid.for_each "a" %i to %len {
    memref.store %one, %y0[%i] : memref<?xi32>
  }
  qd.grid.for_each "b" %i to %len {
    memref.store %one, %y1[%i] : memref<?xi32>
  }
  qd.grid.for_each "c" %i to %len {
    memref.store %one, %y2[%i] : memref<?xi32>
  }
  qd.grid.phase "sum" blocks(%g) threads(256) {
    %t = qd.simt.block.thread_id
    %e = memref.load %view[%t] : memref<?xf32>
    %f = memref.load %y1[%t] : memref<?xi32>
    memref.store %f, %y1[%t] : memref<?xi32>
    %old = qd.grid.atomic.rmw add %f, %y2[%t] device relaxed : memref<?xi32>
    memref.store %old, %o[%t] : memref<?xi32>
  }
}

// -----

// Bodies that are no arithmetic, are long, have loops, or load more than they save.
// WHY-LABEL: producers of @bodies
// WHY-NEXT:    "atomic" stays: 'qd.grid.atomic.rmw' cannot be computed elsewhere
// WHY-NEXT:    "loop" stays: 'scf.for' cannot be computed elsewhere
// WHY-NEXT:    "wide" stays: loading 16 bytes an element instead of 4 in 2 phases costs more than it saves
// WHY-NEXT:    "repeated" stays: loading 8 bytes an element instead of 4 in 1 phase costs more than it saves
// CHECK-LABEL: qd.grid.kernel @bodies(
// CHECK:         "atomic"
// CHECK:         "loop"
// CHECK:         "wide"
// CHECK:         "repeated"
qd.grid.kernel @bodies(%x: memref<?xi32>, %w: memref<?xi64>, %y0: memref<?xi32> {qd.scratch}, %y1: memref<?xi32> {qd.scratch}, %y2: memref<?xi32> {qd.scratch}, %y3: memref<?xi32> {qd.scratch}, %o: memref<?xi32>, %p: memref<?xi32>, %flag: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %len = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "atomic" %i to %len {
    %e = qd.grid.atomic.rmw add %one, %x[%c0] device relaxed : memref<?xi32>
    memref.store %e, %y0[%i] : memref<?xi32>
  }
  qd.grid.for_each "loop" %i to %len {
    %e = scf.for %j = %c0 to %i step %c1 iter_args(%sum = %one) -> i32 {
      %v = memref.load %x[%j] : memref<?xi32>
      %next = arith.addi %sum, %v : i32
      scf.yield %next : i32
    }
    memref.store %e, %y1[%i] : memref<?xi32>
  }
  qd.grid.for_each "wide" %i to %len {
    %j = arith.subi %len, %i : index
    %a = memref.load %w[%i] : memref<?xi64>
    %b = memref.load %w[%j] : memref<?xi64>
    %c = arith.addi %a, %b : i64
    %e = arith.trunci %c : i64 to i32
    memref.store %e, %y2[%i] : memref<?xi32>
  }
  qd.grid.for_each "repeated" %i to %len {
    %a = memref.load %w[%i] : memref<?xi64>
    %e = arith.trunci %a : i64 to i32
    memref.store %e, %y3[%i] : memref<?xi32>
  }
  qd.grid.for_each "use" %i to %len {
    %a = memref.load %y0[%i] : memref<?xi32>
    %b = memref.load %y1[%i] : memref<?xi32>
    %c = memref.load %y2[%i] : memref<?xi32>
    %d = arith.addi %a, %b : i32
    %e = arith.addi %c, %d : i32
    memref.store %e, %o[%i] : memref<?xi32>
  }
  qd.grid.for_each "use again" %i to %len {
    %c = memref.load %y2[%i] : memref<?xi32>
    memref.store %c, %p[%i] : memref<?xi32>
  }
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.for_each "use in a loop" %i to %len {
      %c = memref.load %y3[%i] : memref<?xi32>
      memref.store %c, %p[%i] : memref<?xi32>
    }
  }
}

// -----

// One operation more than may be computed again.
// WHY-LABEL: producers of @long
// WHY-NEXT:    "33" stays: its body has 33 operations, more than 32
// WHY-NEXT:    "32" goes into "use"
// CHECK-LABEL: qd.grid.kernel @long(
// CHECK:         "33"
// CHECK-NOT:     "32"
qd.grid.kernel @long(%x: memref<?xi32>, %y: memref<?xi32> {qd.scratch}, %z: memref<?xi32> {qd.scratch}, %o: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each "33" %i to %len {
    %v0 = memref.load %x[%i] : memref<?xi32>
    %v1 = arith.addi %v0, %v0 : i32
    %v2 = arith.addi %v1, %v1 : i32
    %v3 = arith.addi %v2, %v2 : i32
    %v4 = arith.addi %v3, %v3 : i32
    %v5 = arith.addi %v4, %v4 : i32
    %v6 = arith.addi %v5, %v5 : i32
    %v7 = arith.addi %v6, %v6 : i32
    %v8 = arith.addi %v7, %v7 : i32
    %v9 = arith.addi %v8, %v8 : i32
    %v10 = arith.addi %v9, %v9 : i32
    %v11 = arith.addi %v10, %v10 : i32
    %v12 = arith.addi %v11, %v11 : i32
    %v13 = arith.addi %v12, %v12 : i32
    %v14 = arith.addi %v13, %v13 : i32
    %v15 = arith.addi %v14, %v14 : i32
    %v16 = arith.addi %v15, %v15 : i32
    %v17 = arith.addi %v16, %v16 : i32
    %v18 = arith.addi %v17, %v17 : i32
    %v19 = arith.addi %v18, %v18 : i32
    %v20 = arith.addi %v19, %v19 : i32
    %v21 = arith.addi %v20, %v20 : i32
    %v22 = arith.addi %v21, %v21 : i32
    %v23 = arith.addi %v22, %v22 : i32
    %v24 = arith.addi %v23, %v23 : i32
    %v25 = arith.addi %v24, %v24 : i32
    %v26 = arith.addi %v25, %v25 : i32
    %v27 = arith.addi %v26, %v26 : i32
    %v28 = arith.addi %v27, %v27 : i32
    %v29 = arith.addi %v28, %v28 : i32
    %v30 = arith.addi %v29, %v29 : i32
    %v31 = arith.addi %v30, %v30 : i32
    %v32 = arith.addi %v31, %v31 : i32
    %v33 = arith.addi %v32, %v32 : i32
    memref.store %v33, %y[%i] : memref<?xi32>
  }
  qd.grid.for_each "32" %i to %len {
    %v0 = memref.load %x[%i] : memref<?xi32>
    %v1 = arith.addi %v0, %v0 : i32
    %v2 = arith.addi %v1, %v1 : i32
    %v3 = arith.addi %v2, %v2 : i32
    %v4 = arith.addi %v3, %v3 : i32
    %v5 = arith.addi %v4, %v4 : i32
    %v6 = arith.addi %v5, %v5 : i32
    %v7 = arith.addi %v6, %v6 : i32
    %v8 = arith.addi %v7, %v7 : i32
    %v9 = arith.addi %v8, %v8 : i32
    %v10 = arith.addi %v9, %v9 : i32
    %v11 = arith.addi %v10, %v10 : i32
    %v12 = arith.addi %v11, %v11 : i32
    %v13 = arith.addi %v12, %v12 : i32
    %v14 = arith.addi %v13, %v13 : i32
    %v15 = arith.addi %v14, %v14 : i32
    %v16 = arith.addi %v15, %v15 : i32
    %v17 = arith.addi %v16, %v16 : i32
    %v18 = arith.addi %v17, %v17 : i32
    %v19 = arith.addi %v18, %v18 : i32
    %v20 = arith.addi %v19, %v19 : i32
    %v21 = arith.addi %v20, %v20 : i32
    %v22 = arith.addi %v21, %v21 : i32
    %v23 = arith.addi %v22, %v22 : i32
    %v24 = arith.addi %v23, %v23 : i32
    %v25 = arith.addi %v24, %v24 : i32
    %v26 = arith.addi %v25, %v25 : i32
    %v27 = arith.addi %v26, %v26 : i32
    %v28 = arith.addi %v27, %v27 : i32
    %v29 = arith.addi %v28, %v28 : i32
    %v30 = arith.addi %v29, %v29 : i32
    %v31 = arith.addi %v30, %v30 : i32
    %v32 = arith.addi %v31, %v31 : i32
    memref.store %v32, %z[%i] : memref<?xi32>
  }
  qd.grid.for_each "use" %i to %len {
    %a = memref.load %y[%i] : memref<?xi32>
    %b = memref.load %z[%i] : memref<?xi32>
    %c = arith.addi %a, %b : i32
    memref.store %c, %o[%i] : memref<?xi32>
  }
}
