//! `f16` and `bf16` as integers: to `f32`, and back, rounded to nearest with ties to even.
//!
//! Integers alone decide the bits, so that they are the same on targets that have such
//! conversions, round otherwise, or flush denormals.

use qd_dialects::{
    builder::V,
    ir::is_float,
    melior::ir::{Type, TypeLike},
};

/// The exponent of an `f16` is this much less than that of an `f32`, in its place.
const REBIAS: i64 = 112 << 23;
/// The magnitude of the infinity of `f32`.
const INFINITY: i64 = 0x7F80_0000;
/// What is set in each NaN of `f32` that does not signal.
const QUIET: i64 = 0x0040_0000;

/// The `f32` that a half of a type, given as `i16`, stands for. No NaN signals: an extreme of a
/// number and one that does is a NaN on some targets.
pub(super) fn widen<'b, 'c>(bits: V<'b, 'c>, half: Type<'c>) -> V<'b, 'c> {
    let b = bits.builder();
    let (word, float) = (bits.to_i32(), b.f32_type());
    let magnitude = word & 0x7FFF;
    let quiet = |infinity: i64, wide: V<'b, 'c>| magnitude.gt(infinity).select(wide | QUIET, wide);
    if half.is_bf16() {
        return quiet(INFINITY >> 16, word << 16).bitcast(float);
    }
    let sign = (word & 0x8000) << 16;
    let shifted = (magnitude << 13) + REBIAS;
    // The exponent of infinities and NaNs is all ones in both.
    let special = magnitude.ge(0x7C00).select(shifted + REBIAS, shifted);
    let special = quiet(0x7C00, special);
    // Below the smallest normal number the digits are a multiple of the last one.
    let digits = b.result("arith.sitofp", &[magnitude], float, &[]);
    let small = (digits * b.float(float, 2f64.powi(-24))).bitcast(word.ty());
    (magnitude.lt(0x400).select(small, special) | sign).bitcast(float)
}

/// The half of a type, as `i16`, that an `f32` is rounded to.
pub(super) fn narrow<'b, 'c>(value: V<'b, 'c>, half: Type<'c>) -> V<'b, 'c> {
    let b = value.builder();
    let word = value.bitcast(b.int_type(32));
    let magnitude = word & 0x7FFF_FFFF;
    let sign = (word >> 16) & 0x8000;
    let is_nan = magnitude.gt(INFINITY);
    // Adds a half of what is cut off, a little less where the last digit that stays is even.
    let round = |bits: i64| {
        let last = (magnitude >> bits) & 1;
        (magnitude + last + ((1_i64 << (bits - 1)) - 1)) >> bits
    };
    let rounded = if half.is_bf16() {
        is_nan.select((magnitude >> 16) | 0x40, round(16))
    } else {
        let normal = round(13) - (REBIAS >> 13);
        // The last digit of 0.5 is that of the smallest numbers.
        let half = b.float(b.f32_type(), 0.5);
        let sum = (magnitude.bitcast(b.f32_type()) + half).bitcast(word.ty());
        let small = sum - 0x3F00_0000;
        let finite = magnitude.lt(113_i64 << 23).select(small, normal);
        // From half a digit above the largest number on.
        let bounded = magnitude.ge(0x477F_F000).select(word.same(0x7C00), finite);
        is_nan.select(((magnitude >> 13) & 0x1FF) | 0x7E00, bounded)
    };
    (rounded | sign).cast(b.int_type(16))
}

/// An `f32` that rounds to a half as the `f64` does: its last digit says whether there is more.
pub(super) fn to_odd<'b, 'c>(wide: V<'b, 'c>) -> V<'b, 'c> {
    let b = wide.builder();
    let absolute = |value: V<'b, 'c>| b.result("math.absf", &[value], value.ty(), &[]);
    let nearest = b.result("arith.truncf", &[wide], b.f32_type(), &[]);
    let back = b.result("arith.extf", &[nearest], wide.ty(), &[]);
    let (word, goal, got) = (
        nearest.bitcast(b.int_type(32)),
        absolute(wide),
        absolute(back),
    );
    let is_even = (word & 1).eq(0);
    let up = (is_even & goal.gt(got)).select(word.same(1), word.same(0));
    let down = (is_even & goal.lt(got)).select(word.same(1), word.same(0));
    (word + up - down).bitcast(b.f32_type())
}

/// An `f32` that rounds to a half as the integer does.
pub(super) fn of_integer<'b, 'c>(value: V<'b, 'c>, signed: bool) -> V<'b, 'c> {
    /// Digits that an `f32` has.
    const DIGITS: u32 = 24;
    /// Digits that are cut off at once: as many as leave a half all of its own.
    const STEP: i64 = 12;
    let b = value.builder();
    let width = qd_dialects::ir::bit_width(value.ty());
    let float = b.f32_type();
    if width <= DIGITS {
        let name = if signed {
            "arith.sitofp"
        } else {
            "arith.uitofp"
        };
        return b.result(name, &[value], float, &[]);
    }
    let is_negative = match signed {
        true => value.slt(0),
        false => b.bool(false),
    };
    let mut digits = is_negative.select(value.same(0) - value, value);
    let mut scale = b.float(float, 1.0);
    let mut left = width;
    while left > DIGITS {
        let is_long = digits.ge(1_i64 << DIGITS);
        let rest = (digits & ((1_i64 << STEP) - 1)).ne(0);
        let cut = (digits >> STEP) | rest.cast(digits.ty());
        digits = is_long.select(cut, digits);
        let scaled = scale * b.float(float, 2f64.powi(STEP as i32));
        scale = is_long.select(scaled, scale);
        left -= STEP as u32;
    }
    let magnitude = b.result("arith.uitofp", &[digits], float, &[]) * scale;
    is_negative.select(-magnitude, magnitude)
}

/// The bits that a number is rounded to in a 16-bit float, zero-extended.
pub(super) fn bits_of(value: f64, half: Type<'_>) -> i64 {
    debug_assert!(is_float(half));
    let (fraction, least): (i32, i32) = match half.is_bf16() {
        true => (7, -126),
        false => (10, -14),
    };
    let sign = i64::from(value.is_sign_negative()) << 15;
    let infinity = 0x7FFF & !((1 << fraction) - 1);
    if value.is_nan() {
        return sign | infinity | 1 << (fraction - 1);
    }
    let exponent = (value.to_bits() >> 52 & 0x7FF) as i32 - 1023;
    let exponent = exponent.clamp(least, 1 - least + 1);
    let digits = (value.abs() / 2f64.powi(exponent - fraction)).round_ties_even() as i64;
    let bits = (i64::from(exponent - least) << fraction).saturating_add(digits);
    sign | bits.min(infinity)
}
