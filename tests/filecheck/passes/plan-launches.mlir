// A launch waits for its dependencies alone, and the printed plan has the
// reasons.

// RUN: qd-opt %s --qd-plan-launches="fuse=false share=false" --split-input-file | FileCheck %s
// RUN: qd-opt %s --qd-plan-launches="fuse=false share=false print-plan=true" --split-input-file 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=PLAN
// RUN: qd-opt %s --qd-plan-launches=print-plan=true --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=FUSED

// Reads after reads are free; the third waits for what it reads and for what it
// overwrites; the fourth waits for the third alone, which waits for the others.
// CHECK-LABEL: qd.grid.kernel @dependences
// CHECK:         launch 0 @dependences_a_0
// CHECK-NOT:     after
// CHECK:         launch 1 @dependences_b_1
// CHECK-NOT:     after
// CHECK:         launch 2 @dependences_c_2 {{.*}} after [0, 1]
// CHECK:         launch 3 @dependences_d_3 {{.*}} after [2]
//
// PLAN-LABEL: plan of @dependences: 4 launches of 4 bodies
// PLAN-NEXT:    launch 0 @dependences_a_0
// PLAN-NEXT:    launch 1 @dependences_b_1
// PLAN-NEXT:    launch 2 @dependences_c_2
// PLAN-NEXT:        after launch 0 @dependences_a_0: reads what it writes: argument 1
// PLAN-NEXT:        after launch 1 @dependences_b_1: writes what it writes: argument 2
// PLAN-NEXT:    launch 3 @dependences_d_3
// PLAN-NEXT:        after launch 2 @dependences_c_2: writes what it reads: argument 1
//
// Independent phases are one launch; the plan says why others are not.
// FUSED-LABEL: plan of @dependences: 3 launches of 3 bodies
// FUSED-NEXT:    launch 0 @dependences_a_b_0
// FUSED-NEXT:    launch 1 @dependences_c_1
// FUSED-NEXT:        after launch 0 @dependences_a_b_0: reads what it writes: argument 1
// FUSED-NEXT:    launch 2 @dependences_d_2
// FUSED-NEXT:        after launch 1 @dependences_c_1: writes what it reads: argument 1
// FUSED-NEXT:    "a+b" and "c" are not one launch: "a+b" accesses argument 1 at other elements than its threads own
// FUSED-NEXT:    "c" and "d" are not one launch: 'memref.atomic_rmw' orders memory between blocks
qd.grid.kernel @dependences(%x: memref<?xi32>, %y: memref<?xi32>, %z: memref<?xi32>, %g: index) {
  qd.grid.phase "a" blocks(%g) threads(64) {
    %i = qd.simt.block.id
    %v = memref.load %x[%i] : memref<?xi32>
    memref.store %v, %y[%i] : memref<?xi32>
  }
  qd.grid.phase "b" blocks(%g) threads(64) {
    %i = qd.simt.block.thread_id
    %v = memref.load %x[%i] : memref<?xi32>
    memref.store %v, %z[%i] : memref<?xi32>
  }
  qd.grid.phase "c" blocks(%g) threads(64) {
    %i = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %v = memref.load %y[%t] : memref<?xi32>
    memref.store %v, %z[%i] : memref<?xi32>
  }
  qd.grid.phase "d" blocks(%g) threads(64) {
    %i = qd.simt.block.id
    %c = arith.constant 1 : i32
    %old = memref.atomic_rmw addi %c, %y[%i] : (i32, memref<?xi32>) -> i32
  }
}

// -----

// Buffers that may alias order what would not be ordered otherwise.
// CHECK-LABEL: qd.grid.kernel @aliases
// CHECK:         launch 0
// CHECK:         launch 1 {{.*}} after [0]
// CHECK:         launch 2
// CHECK-NOT:     after
// CHECK:       }
qd.grid.kernel @aliases(%x: memref<?xi32> {qd.may_alias}, %y: memref<?xi32> {qd.may_alias}, %z: memref<?xi32>, %g: index, %v: i32) {
  qd.grid.phase "x" blocks(%g) threads(64) {
    %i = qd.simt.block.id
    memref.store %v, %x[%i] : memref<?xi32>
  }
  qd.grid.phase "y" blocks(%g) threads(64) {
    %i = qd.simt.block.thread_id
    memref.store %v, %y[%i] : memref<?xi32>
  }
  qd.grid.phase "z" blocks(%g) threads(64) {
    %i = qd.simt.grid.dim
    memref.store %v, %z[%i] : memref<?xi32>
  }
}

// -----

// Parts of one buffer that do not overlap are not ordered; those that may are.
// CHECK-LABEL: qd.grid.kernel @parts
// CHECK:         launch 0
// CHECK:         launch 1
// CHECK-NOT:     after
// CHECK:         launch 2 {{.*}} after [0, 1]
qd.grid.kernel @parts(%s: memref<?xi32>, %a: memref<?xf32>, %g: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %len = memref.dim %a, %c0 : memref<?xf32>
  %t1 = arith.ceildivui %len, %c256 : index
  %again = arith.ceildivui %len, %c256 : index
  %t2 = arith.ceildivui %t1, %c256 : index
  %first = qd.grid.view %s[%c0] [%t1] : memref<?xi32> to memref<?xf32>
  %second = qd.grid.view %s[%again] [%t2] : memref<?xi32> to memref<?xf32>
  qd.grid.phase "first" blocks(%g) threads(64) {
    %i = qd.simt.block.id
    memref.store %v, %first[%i] : memref<?xf32>
  }
  qd.grid.phase "second" blocks(%g) threads(64) {
    %i = qd.simt.block.thread_id
    memref.store %v, %second[%i] : memref<?xf32>
  }
  qd.grid.phase "all" blocks(%g) threads(64) {
    %i = qd.simt.grid.dim
    %x = memref.load %s[%i] : memref<?xi32>
    memref.store %x, %s[%i] : memref<?xi32>
  }
}

// -----

// A view of wider elements: its offset and size count in its own.
// CHECK-LABEL: qd.grid.kernel @wide_parts
// CHECK:         launch 0
// CHECK:         launch 1 {{.*}} after [0]
qd.grid.kernel @wide_parts(%s: memref<?xi32>, %g: index, %v: f64, %w: i32) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %first = qd.grid.view %s[%c0] [%c8] : memref<?xi32> to memref<?xf64>
  %second = qd.grid.view %s[%c8] [%c8] : memref<?xi32> to memref<?xi32>
  qd.grid.phase "first" blocks(%g) threads(64) {
    %i = qd.simt.block.id
    memref.store %v, %first[%i] : memref<?xf64>
  }
  qd.grid.phase "second" blocks(%g) threads(64) {
    %i = qd.simt.block.thread_id
    memref.store %w, %second[%i] : memref<?xi32>
  }
}

// -----

// Steps that are no launches keep their place; launches wait for launches, also
// through such a step. A loop is planned by itself.
// CHECK-LABEL: qd.grid.kernel @steps
// CHECK:         launch 0
// CHECK:         fill
// CHECK:         launch 1 {{.*}} after [0]
// CHECK:         do_while
// CHECK-NEXT:      launch 2
// CHECK-NOT:       after
// CHECK-NEXT:      launch 3 {{.*}} after [2]
// CHECK:         launch 4 {{.*}} after [1]
//
// PLAN-LABEL: plan of @steps
// PLAN:         fill
// PLAN-NEXT:        after launch 0 @steps_write_0: writes what it writes: argument 0
// PLAN:         do_while
// PLAN:           launch 2
// PLAN:           launch 3
// PLAN-NEXT:          after launch 2
// PLAN:         launch 4
// PLAN-NEXT:        after do_while
qd.grid.kernel @steps(%x: memref<?xi32>, %y: memref<?xi32>, %flag: memref<i32>, %g: index, %v: i32) {
  %c0 = arith.constant 0 : index
  qd.grid.phase "write" blocks(%g) threads(64) {
    %i = qd.simt.block.id
    memref.store %v, %x[%i] : memref<?xi32>
  }
  qd.grid.fill %x[%c0 to %g] = %v : memref<?xi32>
  qd.grid.phase "copy" blocks(%g) threads(64) {
    %i = qd.simt.block.id
    %w = memref.load %x[%i] : memref<?xi32>
    memref.store %w, %y[%i] : memref<?xi32>
  }
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.phase "inner" blocks(%g) threads(64) {
      %i = qd.simt.block.id
      %w = memref.load %y[%i] : memref<?xi32>
      memref.store %w, %x[%i] : memref<?xi32>
    }
    qd.grid.phase "flag" blocks(%g) threads(64) {
      %i = qd.simt.block.id
      %w = memref.load %x[%i] : memref<?xi32>
      memref.store %w, %flag[] : memref<i32>
    }
  }
  qd.grid.phase "last" blocks(%g) threads(64) {
    %w = memref.load %flag[] : memref<i32>
    memref.store %w, %x[%c0] : memref<?xi32>
  }
}

// -----

// What may be left out is one step, too, which reads its condition; what is in it
// is fused and planned by itself.
// CHECK-LABEL: qd.grid.kernel @choice
// CHECK:         launch 0
// CHECK:         if
// CHECK-NEXT:      launch 1
// CHECK-NOT:       after
// CHECK-NEXT:      launch 2 {{.*}} after [1]
// CHECK:         launch 3 {{.*}} after [0]
//
// PLAN-LABEL: plan of @choice
// PLAN:         if
// PLAN-NEXT:        after launch 0 @choice_choose_0: reads what it writes: control words
// PLAN:           launch 2
// PLAN-NEXT:          after launch 1
// PLAN:         launch 3
// PLAN-NEXT:        after if: reads what it writes: argument 0
qd.grid.kernel @choice(%x: memref<?xi32>, %y: memref<?xi32>, %g: index, %v: i32) {
  %c0 = arith.constant 0 : index
  %word = qd.grid.control : memref<1xi32>
  qd.grid.phase "choose" blocks(%g) threads(64) {
    memref.store %v, %word[%c0] : memref<1xi32>
  }
  qd.grid.if %word : memref<1xi32> {
    qd.grid.phase "inner" blocks(%g) threads(64) {
      %i = qd.simt.block.id
      %w = memref.load %y[%i] : memref<?xi32>
      memref.store %w, %x[%i] : memref<?xi32>
    }
    qd.grid.phase "clear" blocks(%g) threads(64) {
      %i = qd.simt.block.id
      %w = memref.load %x[%i] : memref<?xi32>
      memref.store %w, %word[%c0] : memref<1xi32>
    }
  }
  qd.grid.phase "last" blocks(%g) threads(64) {
    %i = qd.simt.block.id
    %w = memref.load %x[%i] : memref<?xi32>
    memref.store %w, %y[%i] : memref<?xi32>
  }
}

// -----

// What cannot be followed counts as written: a buffer that is passed on.
// CHECK-LABEL: qd.grid.kernel @unknown
// CHECK:         launch 0
// CHECK:         launch 1 {{.*}} after [0]
func.func private @elsewhere(memref<?xi32>)
qd.grid.kernel @unknown(%x: memref<?xi32>, %y: memref<?xi32>, %g: index) {
  qd.grid.phase "call" blocks(%g) threads(64) {
    func.call @elsewhere(%x) : (memref<?xi32>) -> ()
  }
  qd.grid.phase "read" blocks(%g) threads(64) {
    %i = qd.simt.block.id
    %v = memref.load %x[%i] : memref<?xi32>
    memref.store %v, %y[%i] : memref<?xi32>
  }
}

// -----

// Phases that differ in a constant alone share a body, and the plan says so.
// FUSED-LABEL: plan of @shared: 2 launches of 1 body
// FUSED-NEXT:    launch 0 @shared_low_0, "low": 2 launches share this body
// FUSED-NEXT:    launch 1 @shared_low_0, "high": 2 launches share this body
// FUSED-NEXT:        after launch 0 @shared_low_0: reads what it writes: argument 0
// FUSED-NEXT:    "low" and "high" are not one launch
qd.grid.kernel @shared(%x: memref<?xi32>, %g: index) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  qd.grid.phase "low" blocks(%g) threads(64) {
    %i = qd.simt.block.id
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.addi %v, %c1 : i32
    memref.store %w, %x[%i] : memref<?xi32>
  }
  qd.grid.phase "high" blocks(%g) threads(64) {
    %i = qd.simt.block.id
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.addi %v, %c2 : i32
    memref.store %w, %x[%i] : memref<?xi32>
  }
}
