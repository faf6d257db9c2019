// What the cpu conversion cannot do is said where it stands.
// RUN: qd-opt %s --qd-convert-to-cpu --split-input-file --verify-diagnostics

module attributes {qd.wave = 32 : i32} {
  func.func private @unknown_size(%n: index) attributes {qd.threads = 64 : i64} {
    // expected-error@+1 {{has a size that is not known, which the cpu's threads cannot allocate}}
    %own = memref.alloca(%n) : memref<?xi32>
    return
  }
}

// -----

module attributes {qd.wave = 32 : i32} {
  func.func private @too_much() attributes {qd.threads = 1024 : i64} {
    %fits = memref.alloca() : memref<32xi32>
    %just = memref.alloca() : memref<32xf32>
    // expected-error@+1 {{makes 278528 bytes that a block's threads allocate, but 262144 are the most}}
    %more = memref.alloca() : memref<2xf64>
    return
  }
}
