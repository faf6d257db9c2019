// Errors of the cpu conversion are at the op that it cannot convert.
// RUN: qd-opt %s --qd-convert-to-cpu --split-input-file --verify-diagnostics

module {
  func.func private @unknown_size(%n: index) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    // expected-error@+1 {{has a size that is not known at compile time, which the cpu's threads cannot allocate}}
    %own = memref.alloca(%n) : memref<?xi32>
    return
  }
}

// -----

module {
  func.func private @too_much() attributes {qd.threads = 1024 : i64, qd.wave = 32 : i64} {
    %fits = memref.alloca() : memref<32xi32>
    %just = memref.alloca() : memref<32xf32>
    // expected-error@+1 {{makes 278528 bytes that a block's threads allocate, but 262144 are the most}}
    %more = memref.alloca() : memref<2xf64>
    return
  }
}

// -----

module {
  func.func private @too_much_shared() attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %fits = qd.simt.block.shared : memref<65535xi32, #gpu.address_space<workgroup>>
    // expected-error@+1 {{makes the block's shared memory 262148 bytes, but target 'cpu' has 262144}}
    %more = qd.simt.block.shared : memref<1xi32, #gpu.address_space<workgroup>>
    return
  }
}

// -----

module {
  func.func private @lanes_part(%v: i32) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %c16 = arith.constant 16 : index
    // expected-note@+1 {{'qd.simt.block.thread_id' varies across the lanes of a subgroup of 32}}
    %t = qd.simt.block.thread_id
    // expected-note@+1 {{this 'arith.cmpi' is not the same in all lanes of a subgroup of 32}}
    %p = arith.cmpi ult, %t, %c16 : index
    // expected-error@+2 {{holds a collective, but its control varies between the lanes of a subgroup}}
    // expected-note@+1 {{the condition of this 'scf.if' is not the same in all lanes of a subgroup of 32}}
    scf.if %p {
      %s = qd.simt.reduce_all add %v : i32
    }
    return
  }
}

// -----

module {
  func.func private @subgroups_part() attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %c32 = arith.constant 32 : index
    // expected-note@+1 {{'qd.simt.block.thread_id' varies across the threads of a block of 64}}
    %t = qd.simt.block.thread_id
    // expected-note@+1 {{this 'arith.cmpi' is not the same in all threads of a block of 64}}
    %p = arith.cmpi ult, %t, %c32 : index
    // expected-note@+1 {{the condition of this 'scf.if' is not the same in all threads of a block of 64}}
    scf.if %p {
      // expected-error@+1 {{stands under control that varies between the threads of a block}}
      qd.simt.block.sync
    }
    return
  }
}

// -----

module {
  func.func private @arrays_of_a_threads_choice(%a: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    %i3 = arith.constant 3 : index
    %t = qd.simt.block.thread_id
    %digit = memref.load %a[%t] : memref<?xi32>
    %one = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
    %other = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
    %first = arith.cmpi ult, %t, %i3 : index
    %either = arith.select %first, %one, %other : memref<64xi32, #gpu.address_space<workgroup>>
    // expected-error@+1 {{needs arrays that are the same in all threads of the block}}
    %r = qd.simt.block.radix_rank %digit, %either, %other {radix_bits = 6 : i32}
        : memref<64xi32, #gpu.address_space<workgroup>>, memref<64xi32, #gpu.address_space<workgroup>>
    return
  }
}
