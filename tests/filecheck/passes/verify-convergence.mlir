// Uniform control flow is accepted: at the top of a phase, under branches that all
// threads of the scope take together, in loops with the same number of iterations in all.

// RUN: qd-opt %s --qd-verify-convergence
// RUN: qd-opt %s --qd-verify-convergence=wave=4
// RUN: qd-opt %s --qd-select-subgroup-size=wave=64 --qd-verify-convergence

// At the top, whatever the values.
qd.grid.kernel @top(%g: index, %a: memref<?xi32>) {
  qd.grid.phase blocks(%g) threads(256) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %0 = qd.simt.reduce_all add %v : i32
    qd.simt.sync
    qd.simt.block.sync
    %1 = qd.simt.block.reduce_all add %v : i32
  }
}

// Under what the host computed, what the block is, and what all threads load
// from one place.
qd.grid.kernel @uniform_values(%g: index, %n: index, %count: memref<i32>, %v: i32) {
  qd.grid.phase blocks(%g) threads(256) {
    %b = qd.simt.block.id
    %live = memref.load %count[] : memref<i32>
    %limit = arith.index_cast %live : i32 to index
    %c256 = arith.constant 256 : index
    %first = arith.muli %b, %c256 : index
    %in = arith.cmpi ult, %first, %limit : index
    scf.if %in {
      %0 = qd.simt.block.reduce_all add %v : i32
      %some = arith.cmpi sgt, %0, %live : i32
      scf.if %some {
        qd.simt.block.sync
      }
    }
  }
}

// A whole number of subgroups: every wave divides 64.
qd.grid.kernel @whole_subgroups(%g: index, %v: i32, %k: index) {
  qd.grid.phase blocks(%g) threads(256) {
    %t = qd.simt.block.thread_id
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %below = arith.cmpi ult, %t, %c64 : index
    scf.if %below {
      %0 = qd.simt.reduce_all add %v : i32
    }
    %upto = arith.cmpi ule, %t, %c63 : index
    scf.if %upto {
      %0 = qd.simt.reduce_all add %v : i32
    }
    %above = arith.cmpi ule, %c128, %t : index
    scf.if %above {
      %0 = qd.simt.reduce_all add %v : i32
    }
    %quotient = arith.divui %t, %c64 : index
    %second = arith.cmpi eq, %quotient, %c0 : index
    scf.if %second {
      %0 = qd.simt.reduce_all add %v : i32
    }
    %high = arith.andi %t, %c64 : index
    %odd = arith.cmpi ne, %high, %c0 : index
    scf.if %odd {
      %0 = qd.simt.reduce_all add %v : i32
    }
    // Against a bound that is known to be a multiple of 64 only.
    %bound = arith.muli %k, %c64 : index
    %inside = arith.cmpi slt, %t, %bound : index
    scf.if %inside {
      %0 = qd.simt.reduce_all add %v : i32
    }
    // Reduced to a group of 64, then against one of its halves and all of it.
    %within = arith.remui %t, %c64 : index
    %all = arith.cmpi ult, %within, %c64 : index
    scf.if %all {
      qd.simt.block.sync
    }
  }
}

// By subgroup, at any wave; and by what every lane of it got.
qd.grid.kernel @by_subgroup(%g: index, %a: memref<?xi32>) {
  qd.grid.phase blocks(%g) threads(256) {
    %sg = qd.simt.subgroup_id
    %lane = qd.simt.lane_id
    %size = qd.simt.subgroup_size
    %c0 = arith.constant 0 : i32
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %zeroth = arith.cmpi eq, %sg, %c0 : i32
    scf.if %zeroth {
      %0 = qd.simt.reduce_all add %v : i32
    }
    %t32 = arith.index_cast %t : index to i32
    %base = arith.subi %t32, %lane : i32
    %also = arith.cmpi eq, %base, %c0 : i32
    scf.if %also {
      %0 = qd.simt.reduce_all add %v : i32
    }
    // The wave itself as a bound.
    %below = arith.cmpi ult, %lane, %size : i32
    scf.if %below {
      qd.simt.block.sync
    }
    %p = arith.cmpi eq, %v, %c0 : i32
    %any = qd.simt.any %p
    %mask = qd.simt.ballot %p
    %n = qd.math.popcnt %mask : i64
    %most = arith.cmpi ugt, %n, %c0 : i32
    %both = arith.andi %any, %most : i1
    scf.if %both {
      %first = qd.simt.broadcast_first %v : i32
      %same = arith.cmpi eq, %first, %c0 : i32
      scf.if %same {
        qd.simt.sync
      }
    }
  }
}

// Everything below the block's size.
qd.grid.kernel @whole_block(%g: index, %v: i32) {
  qd.grid.phase blocks(%g) threads(192) {
    %t = qd.simt.block.thread_id
    %d = qd.simt.block.dim
    %c192 = arith.constant 192 : index
    %below = arith.cmpi ult, %t, %c192 : index
    scf.if %below {
      %below_too = arith.cmpi slt, %t, %d : index
      scf.if %below_too {
        qd.simt.block.sync
      }
    }
  }
}

// Loops: over tiles; that a vote ends; that carry values which vary.
qd.grid.kernel @loops(%g: index, %n: index, %a: memref<?xi32>) {
  qd.grid.phase blocks(%g) threads(256) {
    %b = qd.simt.block.id
    %t = qd.simt.block.thread_id
    %grid = qd.simt.grid.dim
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c256 = arith.constant 256 : index
    %c1024 = arith.constant 1024 : index
    %sum = scf.for %tile = %b to %n step %grid iter_args(%s = %c0) -> i32 {
      %start = arith.muli %tile, %c256 : index
      %i = arith.addi %start, %t : index
      %in = arith.cmpi ult, %i, %n : index
      %v = scf.if %in -> i32 {
        %x = memref.load %a[%i] : memref<?xi32>
        scf.yield %x : i32
      } else {
        scf.yield %c0 : i32
      }
      %r = qd.simt.block.reduce_all add %v : i32
      %next = arith.addi %s, %v : i32
      scf.yield %next : i32
    }
    %end = scf.while (%x = %sum) : (i32) -> i32 {
      %p = arith.cmpi sgt, %x, %c0 : i32
      %go = qd.simt.any %p
      scf.condition(%go) %x : i32
    } do {
    ^bb0(%x: i32):
      %y = arith.subi %x, %c1 : i32
      %m = qd.simt.reduce_all maxsi %y : i32
      scf.yield %y : i32
    }
    // From each thread's own start, but as often in every lane.
    scf.for %i = %t to %c1024 step %c256 {
      %q = qd.simt.reduce_all add %end : i32
    }
    // A flag that stays the block's own.
    %state = scf.while (%x = %c0) : (i32) -> i32 {
      %p = arith.cmpi slt, %x, %c1 : i32
      scf.condition(%p) %x : i32
    } do {
    ^bb0(%x: i32):
      qd.simt.block.sync
      %y = arith.addi %x, %c1 : i32
      scf.yield %y : i32
    }
  }
}

// Shared memory at one address is the same for the block.
qd.grid.kernel @shared(%g: index) {
  qd.grid.phase blocks(%g) threads(64) {
    %s = qd.simt.block.shared : memref<4xi32, #gpu.address_space<workgroup>>
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %v = memref.load %s[%c0] : memref<4xi32, #gpu.address_space<workgroup>>
    %p = arith.cmpi eq, %v, %zero : i32
    scf.if %p {
      qd.simt.block.sync
    }
  }
}

// An outlined body: arguments are the launch's.
func.func private @body(%n: i32) attributes {qd.threads = 128 : i64} {
  %c4 = arith.constant 4 : i32
  %p = arith.cmpi ult, %n, %c4 : i32
  scf.if %p {
    qd.simt.block.sync
  }
  return
}

// A function that is called from uniform control flow.
func.func private @callee(%v: i32) -> i32 {
  %0 = qd.simt.reduce_all add %v : i32
  return %0 : i32
}
qd.grid.kernel @calls(%g: index, %v: i32) {
  qd.grid.phase blocks(%g) threads(64) {
    %0 = func.call @callee(%v) : (i32) -> i32
  }
}

// Divergent control flow without a collective is legal.
qd.grid.kernel @divergent(%g: index, %a: memref<?xindex>) {
  qd.grid.phase blocks(%g) threads(64) {
    %t = qd.simt.block.thread_id
    %c5 = arith.constant 5 : index
    %p = arith.cmpi ult, %t, %c5 : index
    scf.if %p {
      memref.store %t, %a[%t] : memref<?xindex>
      qd.simt.block.mem_fence
    }
  }
}
