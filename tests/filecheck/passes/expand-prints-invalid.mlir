// What cannot be expanded yet, and what cannot be printed.
// RUN: qd-opt %s --qd-expand-prints --verify-diagnostics --split-input-file -o /dev/null

qd.grid.kernel @phase() {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    // expected-error @below {{'gpu.printf' op is in a phase, which is to be outlined first: run qd-outline-phases}}
    gpu.printf "here\0A"
  }
}

// -----

func.func private @wide(%x: i128) attributes {qd.threads = 64 : i64} {
  // expected-error @below {{'gpu.printf' op prints a value of type i128, which is no number of at most 64 bits}}
  gpu.printf "%d", %x : i128
  return
}

// -----

func.func private @many(%x: i32) attributes {qd.threads = 64 : i64} {
  // expected-error @below {{'gpu.printf' op prints 15 values, but at most 14 fit: print twice}}
  gpu.printf "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  return
}

// -----

qd.grid.kernel @short() {
  // expected-error @below {{'qd.grid.prints' op has a record of 8 words, but there are 65540}}
  %ring, %first = qd.grid.prints [{at = "here", text = "here", types = ""}] : memref<8xi32>
}

// -----

qd.grid.kernel @of_nothing() {
  // expected-error @below {{'qd.grid.prints' op site 0 has no 'types', which is a string}}
  %ring, %first = qd.grid.prints [{at = "here", text = "here"}] : memref<65540xi32>
}
