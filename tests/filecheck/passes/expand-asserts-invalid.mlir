// What cannot be expanded yet, and what never holds.
// RUN: qd-opt %s --qd-expand-asserts --verify-diagnostics --split-input-file -o /dev/null

qd.grid.kernel @phase(%p: i1) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    // expected-error @below {{'cf.assert' op is in a phase, which is to be outlined first: run qd-outline-phases}}
    cf.assert %p, "holds"
  }
}

// -----

func.func private @never() attributes {qd.threads = 64 : i64} {
  %false = arith.constant false
  // expected-warning @below {{'cf.assert' op never holds: each lane that comes here fails}}
  cf.assert %false, "never"
  return
}

// -----

qd.grid.kernel @short() {
  // expected-error @below {{'qd.grid.faults' op has a record of 8 words, but there are 16}}
  %record, %first = qd.grid.faults [{at = "here", text = "holds"}] : memref<8xi32>
}

// -----

qd.grid.kernel @nothing() {
  // expected-error @below {{'qd.grid.faults' op is for a launch without sites, which needs no record}}
  %record, %first = qd.grid.faults [] : memref<16xi32>
}

// -----

qd.grid.kernel @nowhere() {
  // expected-error @below {{'qd.grid.faults' op site 0 has no 'at', which is a string}}
  %record, %first = qd.grid.faults [{text = "holds"}] : memref<16xi32>
}
