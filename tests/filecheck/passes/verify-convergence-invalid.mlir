// A collective that not all of its threads reach is an error, which names the
// branch, the source of its condition, and the wave sizes that it applies to.

// RUN: qd-opt %s --qd-verify-convergence --split-input-file --verify-diagnostics

qd.grid.kernel @one_thread(%g: index, %v: i32) {
  qd.grid.phase blocks(%g) threads(256) {
    // expected-note @+1 {{'qd.simt.block.thread_id' varies across the lanes of a subgroup of 4}}
    %t = qd.simt.block.thread_id
    %c0 = arith.constant 0 : index
    // expected-note @+1 {{this 'arith.cmpi' is not the same in all lanes of a subgroup of 4}}
    %p = arith.cmpi eq, %t, %c0 : index
    // expected-note @+1 {{the condition of this 'scf.if' is not the same in all lanes of a subgroup of 4}}
    scf.if %p {
      // expected-error @+1 {{'qd.simt.reduce_all' op stands under control flow that is not uniform in its subgroup, at every wave size}}
      %0 = qd.simt.reduce_all add %v : i32
    }
  }
}

// -----

// Uniform at 32 lanes and fewer, not at 64.
qd.grid.kernel @half_a_wave(%g: index, %v: i32) {
  qd.grid.phase blocks(%g) threads(256) {
    // expected-note @+1 {{'qd.simt.block.thread_id' varies across the lanes of a subgroup of 64}}
    %t = qd.simt.block.thread_id
    %c32 = arith.constant 32 : index
    // expected-note @+1 {{this 'arith.cmpi' is not the same in all lanes of a subgroup of 64}}
    %p = arith.cmpi ult, %t, %c32 : index
    // expected-note @+1 {{the condition of this 'scf.if' is not the same in all lanes of a subgroup of 64}}
    scf.if %p {
      // expected-error @+1 {{'qd.simt.reduce_all' op stands under control flow that is not uniform in its subgroup, at wave 64}}
      %0 = qd.simt.reduce_all add %v : i32
    }
  }
}

// -----

// Uniform in each subgroup is not uniform in the block.
qd.grid.kernel @barrier(%g: index, %v: i32) {
  qd.grid.phase blocks(%g) threads(256) {
    // expected-note @+1 {{'qd.simt.subgroup_id' varies across the subgroups of a block}}
    %sg = qd.simt.subgroup_id
    %c0 = arith.constant 0 : i32
    // expected-note @+1 {{it is computed by this 'arith.cmpi'}}
    %p = arith.cmpi eq, %sg, %c0 : i32
    // expected-note @+1 {{the condition of this 'scf.if' is not the same in all threads of a block of 256}}
    scf.if %p {
      %0 = qd.simt.reduce_all add %v : i32
      // expected-error @+1 {{'qd.simt.block.sync' op stands under control flow that is not uniform in its block, at every wave size}}
      qd.simt.block.sync
    }
  }
}

// -----

// With one subgroup in the block it is uniform in the block.
qd.grid.kernel @one_subgroup(%g: index, %v: i32) {
  qd.grid.phase blocks(%g) threads(64) {
    // expected-note @+1 {{varies across the subgroups}}
    %sg = qd.simt.subgroup_id
    %c0 = arith.constant 0 : i32
    // expected-note @+1 {{it is computed by}}
    %p = arith.cmpi eq, %sg, %c0 : i32
    // expected-note @+1 {{the condition of this 'scf.if'}}
    scf.if %p {
      // expected-error @+1 {{'qd.simt.block.sync' op stands under control flow that is not uniform in its block, at wave 4, 8, 16 and 32}}
      qd.simt.block.sync
    }
  }
}

// -----

// A value loaded from each thread's own place, through arithmetic and a select.
qd.grid.kernel @loaded(%g: index, %a: memref<?xi32>, %v: i32, %c: i1) {
  qd.grid.phase blocks(%g) threads(64) {
    // expected-note @+1 {{'qd.simt.lane_id' varies across the lanes}}
    %l = qd.simt.lane_id
    // expected-note @+1 {{this 'arith.index_cast' is not the same}}
    %i = arith.index_cast %l : i32 to index
    // expected-note @+1 {{this 'memref.load' is not the same}}
    %x = memref.load %a[%i] : memref<?xi32>
    %c0 = arith.constant 0 : i32
    // expected-note @+1 {{it is computed by this 'arith.select'}}
    %s = arith.select %c, %c0, %x : i32
    // expected-note @+1 {{it is computed by this 'arith.cmpi'}}
    %p = arith.cmpi eq, %s, %c0 : i32
    // expected-note @+1 {{the condition of this 'scf.if'}}
    scf.if %p {
    } else {
      // expected-error @+1 {{'qd.simt.ballot' op stands under control flow}}
      %0 = qd.simt.ballot %c
    }
  }
}

// -----

// A loop that runs as often as each thread says.
qd.grid.kernel @trip_count(%g: index, %v: i32) {
  qd.grid.phase blocks(%g) threads(64) {
    // expected-note @+1 {{'qd.simt.block.thread_id' varies across}}
    %t = qd.simt.block.thread_id
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-note @+1 {{this 'scf.for' does not run equally often in all lanes of a subgroup of 4}}
    scf.for %i = %c0 to %t step %c1 {
      // expected-error @+1 {{'qd.simt.shuffle' op stands under control flow that is not uniform in its subgroup, at every wave size}}
      %0 = qd.simt.shuffle xor %v, %v : i32
    }
  }
}

// -----

// A loop whose condition begins to vary in its second iteration.
qd.grid.kernel @while_loop(%g: index, %v: i32) {
  qd.grid.phase blocks(%g) threads(64) {
    // expected-note @+1 {{'qd.simt.lane_id' varies across}}
    %lane = qd.simt.lane_id
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    // expected-note @+2 {{the condition of this 'scf.while' is not the same}}
    // expected-note @+1 {{it is carried around this loop}}
    %r = scf.while (%x = %c0) : (i32) -> i32 {
      // expected-note @+1 {{it is computed by this 'arith.cmpi'}}
      %p = arith.cmpi slt, %x, %c8 : i32
      // expected-error @+1 {{'qd.simt.any' op stands under control flow}}
      %q = qd.simt.any %p
      scf.condition(%p) %x : i32
    } do {
    ^bb0(%x: i32):
      // expected-note @+1 {{this 'arith.addi' is not the same}}
      %y = arith.addi %c0, %lane : i32
      scf.yield %y : i32
    }
  }
}

// -----

// What comes out of a branch that varies, varies, though both its values do not.
qd.grid.kernel @out_of_a_branch(%g: index, %v: i32) {
  qd.grid.phase blocks(%g) threads(64) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // expected-note @+1 {{'qd.simt.elect' varies across the lanes of a subgroup}}
    %e = qd.simt.elect
    // expected-note @+1 {{the condition of this 'scf.if'}}
    %x = scf.if %e -> i32 {
      scf.yield %c0 : i32
    } else {
      scf.yield %c1 : i32
    }
    // expected-note @+1 {{it is computed by this 'arith.cmpi'}}
    %p = arith.cmpi eq, %x, %c0 : i32
    // expected-note @+1 {{the condition of this 'scf.if'}}
    scf.if %p {
      // expected-error @+1 {{'qd.simt.sync' op stands under control flow}}
      qd.simt.sync
    }
  }
}

// -----

// A vote over part of the subgroup is uniform in that part alone.
qd.grid.kernel @tiles(%g: index, %a: memref<?xi1>, %v: i32) {
  qd.grid.phase blocks(%g) threads(64) {
    // expected-note @+1 {{'qd.simt.block.thread_id' varies across}}
    %t = qd.simt.block.thread_id
    // expected-note @+1 {{this 'memref.load' is not}}
    %x = memref.load %a[%t] : memref<?xi1>
    // expected-note @+1 {{it is computed by this 'qd.simt.any'}}
    %p = qd.simt.any %x tile(3)
    // expected-note @+1 {{the condition of this 'scf.if' is not the same in all lanes of a subgroup of 16}}
    scf.if %p {
      // expected-error @+1 {{'qd.simt.reduce_all' op stands under control flow that is not uniform in its subgroup, at wave 16, 32 and 64}}
      %0 = qd.simt.reduce_all add %v : i32
    }
  }
}

// -----

// Atomics yield what they find; memory of one thread is not the others'.
func.func private @sources(%a: memref<i32>) attributes {qd.threads = 64 : i64} {
  %c0 = arith.constant 0 : i32
  // expected-note @+1 {{'qd.grid.atomic.load' yields what it finds, which other threads change}}
  %x = qd.grid.atomic.load %a[] device acquire : memref<i32>
  // expected-note @+1 {{it is computed by}}
  %p = arith.cmpi eq, %x, %c0 : i32
  // expected-note @+1 {{the condition of this 'scf.if'}}
  scf.if %p {
    // expected-error @+1 {{'qd.simt.sync' op stands under control flow}}
    qd.simt.sync
  }
  // expected-note @+1 {{'memref.alloca' is memory of one thread}}
  %m = memref.alloca() : memref<i32>
  // expected-note @+1 {{it is computed by}}
  %y = memref.load %m[] : memref<i32>
  // expected-note @+1 {{it is computed by}}
  %q = arith.cmpi eq, %y, %c0 : i32
  // expected-note @+1 {{the condition of this 'scf.if'}}
  scf.if %q {
    // expected-error @+1 {{'qd.simt.sync' op stands under control flow}}
    qd.simt.sync
  }
  return
}

// -----

// Operands that every lane must agree on.
qd.grid.kernel @operands(%g: index, %v: i32) {
  qd.grid.phase blocks(%g) threads(64) {
    // expected-note @+1 {{varies across the lanes of a subgroup}}
    %l = qd.simt.lane_id
    // expected-error @+1 {{'qd.simt.broadcast' op needs the same 'lane' in every lane: use 'qd.simt.shuffle idx', at every wave size}}
    %0 = qd.simt.broadcast %v, %l : i32
  }
}

// -----

// A call counts as what the function holds; the function itself is checked with
// arguments that may vary.
func.func private @inner(%v: i32) -> i32 {
  %0 = qd.simt.block.reduce_all add %v : i32
  return %0 : i32
}
// expected-note @+1 {{callers may pass anything for argument 1 of this function}}
func.func private @outer(%v: i32, %c: i1) -> i32 {
  // expected-note @+1 {{the condition of this 'scf.if' is not the same in all threads of a block}}
  %r = scf.if %c -> i32 {
    // expected-error @+1 {{'func.call' op stands under control flow that is not uniform in its block}}
    %0 = func.call @inner(%v) : (i32) -> i32
    scf.yield %0 : i32
  } else {
    scf.yield %v : i32
  }
  return %r : i32
}
qd.grid.kernel @calls(%g: index, %v: i32) {
  qd.grid.phase blocks(%g) threads(64) {
    // expected-note @+1 {{varies across the lanes}}
    %e = qd.simt.elect
    // expected-note @+1 {{the condition of this 'scf.if'}}
    scf.if %e {
      // expected-error @+1 {{'func.call' op stands under control flow that is not uniform in its block, at every wave size}}
      %0 = func.call @outer(%v, %e) : (i32, i1) -> i32
    }
  }
}

// -----

// In an outlined body as well, and in unstructured control flow in any case.
// expected-note @+1 {{control flow in this 'func.func' is not known to be uniform}}
func.func private @unstructured(%c: i1) attributes {qd.threads = 64 : i64} {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  // expected-error @+1 {{'qd.simt.block.sync' op stands under control flow}}
  qd.simt.block.sync
  cf.br ^bb2
^bb2:
  return
}
