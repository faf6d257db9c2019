// Bit operations take 32- and 64-bit integers, and answer in i32.
// RUN: qd-opt %s --split-input-file --verify-diagnostics

func.func @popcnt(%x: i8) {
  // expected-error@+1 {{'qd.math.popcnt' op operand #0 must be i32 or i64, but got 'i8'}}
  %0 = qd.math.popcnt %x : i8
  return
}

// -----

func.func @clz(%x: i16) {
  // expected-error@+1 {{'qd.math.clz' op operand #0 must be i32 or i64, but got 'i16'}}
  %0 = qd.math.clz %x : i16
  return
}

// -----

func.func @ffs(%x: f32) {
  // expected-error@+1 {{'qd.math.ffs' op operand #0 must be i32 or i64, but got 'f32'}}
  %0 = qd.math.ffs %x : f32
  return
}

// -----

func.func @width_of_the_answer(%x: i64) {
  // expected-error@+1 {{'qd.math.popcnt' op result #0 must be 32-bit signless integer, but got 'i64'}}
  %0 = "qd.math.popcnt"(%x) : (i64) -> i64
  return
}

// -----

func.func @fns(%mask: i64, %base: i32, %offset: i32) {
  // expected-error@+1 {{'qd.math.fns' op operand #0 must be 32-bit signless integer, but got 'i64'}}
  %0 = "qd.math.fns"(%mask, %base, %offset) : (i64, i32, i32) -> i32
  return
}

// -----

func.func @wide_counter(%c: i64, %k: i32) {
  // expected-error@+1 {{'qd.math.philox' op operand #1 must be 32-bit signless integer, but got 'i64'}}
  %0:4 = "qd.math.philox"(%k, %c, %k, %k, %k, %k) : (i32, i64, i32, i32, i32, i32) -> (i32, i32, i32, i32)
  return
}
