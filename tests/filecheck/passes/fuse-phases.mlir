// Neighbouring phases are fused if no thread needs another thread's results, and only then.

// RUN: qd-opt %s --qd-fuse-phases --split-input-file | FileCheck %s
// RUN: qd-opt %s --qd-plan-launches=print-plan=true --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY

// Each thread reads what it wrote itself, in one grid and in strides of it: the
// same thread owns an element in both.
// CHECK-LABEL: qd.grid.kernel @same_elements
// CHECK:         qd.grid.phase "write+read" blocks(%{{.*}}) threads(256) {
// CHECK:           memref.store %{{.*}}, %[[X:.*]][%{{.*}}]
// CHECK:           scf.for
// CHECK:             memref.load %[[X]]
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @same_elements(%x: memref<?xf32>, %y: memref<?xf32>, %g: index, %n: index, %v: f32) {
  %c256 = arith.constant 256 : index
  qd.grid.phase "write" blocks(%g) threads(256) {
    %b = qd.simt.block.id
    %d = qd.simt.block.dim
    %t = qd.simt.block.thread_id
    %start = arith.muli %b, %d : index
    %i = arith.addi %t, %start : index
    memref.store %v, %x[%i] : memref<?xf32>
  }
  qd.grid.phase "read" blocks(%g) threads(256) {
    %b = qd.simt.block.id
    %s = qd.simt.grid.dim
    %t = qd.simt.block.thread_id
    scf.for %tile = %b to %n step %s {
      %start = arith.muli %tile, %c256 : index
      %i = arith.addi %start, %t : index
      %w = memref.load %x[%i] : memref<?xf32>
      memref.store %w, %y[%i] : memref<?xf32>
    }
  }
}

// -----

// Elementwise phases over the same extent, three in a row, in a loop too; rows
// are owned as a whole. Grids are compared by what they say.
// CHECK-LABEL: qd.grid.kernel @elementwise
// CHECK:         qd.grid.phase "a+b+c"
// CHECK-NOT:     qd.grid.phase
// CHECK:         qd.grid.do_while
// CHECK-NEXT:      qd.grid.phase "d+e"
// CHECK-NOT:     qd.grid.phase
qd.grid.kernel @elementwise(%x: memref<?xf32>, %rows: memref<?x3xf32>, %flag: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c255 = arith.constant 255 : index
  %c256 = arith.constant 256 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g0 = arith.ceildivui %n, %c256 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %g1 = arith.ceildivui %m, %c256 : index
  qd.grid.phase "a" blocks(%g0) threads(256) {
    %b = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %s = arith.muli %b, %c256 : index
    %i = arith.addi %s, %t : index
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %rows[%i, %c0] : memref<?x3xf32>
  }
  qd.grid.phase "b" blocks(%g1) threads(256) {
    %b = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %s = arith.muli %b, %c256 : index
    %i = arith.addi %s, %t : index
    %v = memref.load %rows[%i, %c1] : memref<?x3xf32>
    memref.store %v, %rows[%i, %c0] : memref<?x3xf32>
  }
  qd.grid.phase "c" blocks(%g0) threads(256) {
    %b = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %s = arith.muli %b, %c256 : index
    %i = arith.addi %s, %t : index
    %v = memref.load %rows[%i, %c0] : memref<?x3xf32>
    %w = qd.simt.reduce_all add %v : f32
    memref.store %w, %x[%i] : memref<?xf32>
  }
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.phase "d" blocks(%c1) threads(64) {
      %v = memref.load %x[%c0] : memref<?xf32>
    }
    qd.grid.phase "e" blocks(%c1) threads(64) {
      %v = memref.load %x[%c0] : memref<?xf32>
    }
  }
}

// -----

// The second phase reads its neighbour's element.
// CHECK-LABEL: qd.grid.kernel @neighbours
// CHECK:         qd.grid.phase "write"
// CHECK:         qd.grid.phase "read"
//
// WHY-LABEL: plan of @neighbours
// WHY:         "write" and "read" are not one launch: "read" accesses argument 0 at other elements than its threads own
qd.grid.kernel @neighbours(%x: memref<?xf32>, %y: memref<?xf32>, %g: index, %v: f32) {
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  qd.grid.phase "write" blocks(%g) threads(256) {
    %b = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %s = arith.muli %b, %c256 : index
    %i = arith.addi %s, %t : index
    memref.store %v, %x[%i] : memref<?xf32>
  }
  qd.grid.phase "read" blocks(%g) threads(256) {
    %b = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %s = arith.muli %b, %c256 : index
    %i = arith.addi %s, %t : index
    %next = arith.addi %i, %c1 : index
    %w = memref.load %x[%next] : memref<?xf32>
    memref.store %w, %y[%i] : memref<?xf32>
  }
}

// -----

// Tiles of another size: elements have other owners.
// CHECK-LABEL: qd.grid.kernel @other_tiles
// CHECK:         qd.grid.phase "write"
// CHECK:         qd.grid.phase "read"
qd.grid.kernel @other_tiles(%x: memref<?xf32>, %y: memref<?xf32>, %g: index, %v: f32) {
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  qd.grid.phase "write" blocks(%g) threads(256) {
    %b = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %s = arith.muli %b, %c256 : index
    %i = arith.addi %s, %t : index
    memref.store %v, %x[%i] : memref<?xf32>
  }
  qd.grid.phase "read" blocks(%g) threads(256) {
    %b = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %s = arith.muli %b, %c128 : index
    %i = arith.addi %s, %t : index
    %w = memref.load %x[%i] : memref<?xf32>
    memref.store %w, %y[%i] : memref<?xf32>
  }
}

// -----

// Another grid, other blocks, a step in between.
// CHECK-LABEL: qd.grid.kernel @shapes
// CHECK-COUNT-5: qd.grid.phase
//
// WHY-LABEL: plan of @shapes
// WHY:         "a" and "b" are not one launch: their grids differ
// WHY:         "b" and "c" are not one launch: their blocks differ in size
// WHY-NOT:     "c" and "d"
// WHY-NOT:     "d" and "e"
qd.grid.kernel @shapes(%x: memref<?xf32>, %g: index, %h: index, %flag: memref<i32>, %v: f32) {
  qd.grid.phase "a" blocks(%g) threads(256) {
  }
  qd.grid.phase "b" blocks(%h) threads(256) {
  }
  qd.grid.phase "c" blocks(%h) threads(64) {
  }
  qd.grid.fill %x[%g to %h] = %v : memref<?xf32>
  qd.grid.phase "d" blocks(%h) threads(64) {
  }
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.phase "e" blocks(%h) threads(64) {
    }
  }
}

// -----

// Atomics and fences order memory between blocks; shared memory in both would
// add up.
// CHECK-LABEL: qd.grid.kernel @ordering
// CHECK-COUNT-4: qd.grid.phase
//
// WHY-LABEL: plan of @ordering
// WHY:         "a" and "b" are not one launch: 'qd.grid.atomic.rmw' orders memory between blocks
// WHY:         "b" and "c" are not one launch: 'qd.grid.atomic.rmw' orders memory between blocks
// WHY:         "c" and "d" are not one launch: both use shared memory
qd.grid.kernel @ordering(%x: memref<?xi32>, %g: index, %v: i32) {
  qd.grid.phase "a" blocks(%g) threads(256) {
  }
  qd.grid.phase "b" blocks(%g) threads(256) {
    %b = qd.simt.block.id
    %old = qd.grid.atomic.rmw add %v, %x[%b] device relaxed : memref<?xi32>
  }
  qd.grid.phase "c" blocks(%g) threads(256) {
    %s = qd.simt.block.shared : memref<4xi32, #gpu.address_space<workgroup>>
  }
  qd.grid.phase "d" blocks(%g) threads(256) {
    %s = qd.simt.block.shared : memref<4xi32, #gpu.address_space<workgroup>>
  }
}

// -----

// Two names of what may be the same memory.
// CHECK-LABEL: qd.grid.kernel @aliases
// CHECK-COUNT-2: qd.grid.phase
//
// WHY-LABEL: plan of @aliases
// WHY:         "write" and "read" are not one launch: they access parts of argument 0 that may overlap
qd.grid.kernel @aliases(%x: memref<?xi32> {qd.may_alias}, %y: memref<?xi32> {qd.may_alias}, %g: index, %v: i32) {
  %c256 = arith.constant 256 : index
  qd.grid.phase "write" blocks(%g) threads(256) {
    %b = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %s = arith.muli %b, %c256 : index
    %i = arith.addi %s, %t : index
    memref.store %v, %x[%i] : memref<?xi32>
  }
  qd.grid.phase "read" blocks(%g) threads(256) {
    %b = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %s = arith.muli %b, %c256 : index
    %i = arith.addi %s, %t : index
    %w = memref.load %y[%i] : memref<?xi32>
    memref.store %w, %y[%i] : memref<?xi32>
  }
}
