// Errors of the expansion of collectives.

// RUN: qd-opt %s --qd-expand-collectives --split-input-file --verify-diagnostics

module {
  func.func private @polymorphic(%v: i32) -> i32 attributes {qd.threads = 64 : i64} {
    // expected-error @+1 {{'qd.simt.reduce_all' op is in no body that has a subgroup size: run qd-select-subgroup-size first}}
    %0 = qd.simt.reduce_all add %v : i32
    return %0 : i32
  }
}

// -----

module {
  func.func private @callee(%v: i32) -> i32 attributes {qd.wave = 32 : i64} {
    // expected-error @+1 {{'qd.simt.block.reduce_all' op is not in a phase or an outlined body, so its block's size is not known: inline its function first}}
    %0 = qd.simt.block.reduce_all add %v : i32
    return %0 : i32
  }
}
