// What has to be known before collectives can be expanded.

// RUN: qd-opt %s --qd-expand-collectives --split-input-file --verify-diagnostics

// expected-error @+1 {{'builtin.module' op has no subgroup size yet: run qd-select-subgroup-size first}}
module {
  func.func private @polymorphic(%v: i32) -> i32 attributes {qd.threads = 64 : i64} {
    %0 = qd.simt.reduce_all add %v : i32
    return %0 : i32
  }
}

// -----

module attributes {qd.wave = 32 : i64} {
  func.func private @callee(%v: i32) -> i32 {
    // expected-error @+1 {{'qd.simt.block.reduce_all' op is not in a phase or an outlined body, so its block's size is not known: inline its function first}}
    %0 = qd.simt.block.reduce_all add %v : i32
    return %0 : i32
  }
}
