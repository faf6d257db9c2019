// A wave that does not exist, or that does not fit the code, is an error.

// RUN: qd-opt %s --qd-select-subgroup-size=wave=32 --split-input-file --verify-diagnostics

qd.grid.kernel @too_large(%g: index, %v: i32) {
  qd.grid.phase blocks(%g) threads(64) {
    // expected-error @+1 {{'qd.simt.reduce_all' op works on tiles of 64 lanes, but a subgroup has 32}}
    %0 = qd.simt.reduce_all add %v tile(6) : i32
  }
}

// -----

// expected-error @+1 {{'func.func' op is for subgroups of 64, and cannot be for 32}}
func.func private @other() attributes {qd.threads = 64 : i64, qd.wave = 64 : i64} {
  return
}
