//! Logarithms.
//!
//! `x = 2ᵉ·m` with m from √½ to √2, and `ln m = 2·artanh s` with
//! `s = (m − 1)/(m + 1)`, `|s| < 0.172`: a series of 11 terms in s², off by less
//! than 2⁻⁵⁷.

use super::real::{
    abs, bits, fast_two_sum, fma, from_bits, from_int, is_nan, multiply_add, neg, polynomial, real,
};
use qd_dialects::builder::V;
use std::f64::consts::{LOG2_E, LOG10_E, SQRT_2};

/// The logarithm of 2 to 32 bits, so that multiples of it are exact; and the rest.
const LN_2_HIGH: f64 = 0.6931471803691238;
const LN_2_LOW: f64 = 1.9082149292705877e-10;

/// A positive, finite number taken apart, e as a float.
struct Parts<'b, 'c> {
    e: V<'b, 'c>,
    m: V<'b, 'c>,
}

/// What is no positive, finite number gives garbage: see [`special`].
fn parts<'b, 'c>(x: V<'b, 'c>) -> Parts<'b, 'c> {
    let tiny = x.lt(real(x, f64::MIN_POSITIVE));
    let normal = tiny.select(x * real(x, 2f64.powi(54)), x);
    let word = bits(normal);
    // From √½ on: the mantissa's bits decide whether the exponent is one more.
    let from = word.same(SQRT_2.to_bits() as i64 - (1 << 52));
    let above = word - from;
    let e = above.shr_signed(52);
    let m = from_bits(word - (e << 52));
    let e = from_int(e) - tiny.select(real(x, 54.0), real(x, 0.0));
    Parts { e, m }
}

/// `2/3 + 2/5·s² + …`, 11 terms.
fn tail<'b, 'c>(s2: V<'b, 'c>) -> V<'b, 'c> {
    let coefficients: Vec<_> = (1..12).map(|k| 2.0 / f64::from(2 * k + 1)).collect();
    polynomial(s2, &coefficients)
}

/// `ln m`, as what is large and what is small.
fn log_of_mantissa<'b, 'c>(m: V<'b, 'c>) -> (V<'b, 'c>, V<'b, 'c>) {
    // Exact.
    let f = m - 1;
    let denominator = f + 2;
    let s = f / denominator;
    // What division lost, and what the sum 2 + f did.
    let lost = f - (denominator - 2);
    let rest = fma(neg(s), denominator, f) - s * lost;
    let s_low = rest / denominator;
    let s2 = s * s;
    let large = s + s;
    (large, multiply_add(s * s2, tail(s2), s_low + s_low))
}

/// `ln x` as a sum of two, the second below the first's last place.
pub(super) fn log_in_two<'b, 'c>(x: V<'b, 'c>) -> (V<'b, 'c>, V<'b, 'c>) {
    let Parts { e, m } = parts(x);
    let (large, small) = log_of_mantissa(m);
    let whole = e * real(x, LN_2_HIGH);
    // e is 0 or the product is the larger one.
    let (sum, lost) = fast_two_sum(whole, large);
    let none = e.eq(0);
    let sum = none.select(large, sum);
    let lost = none.select(real(x, 0.0), lost);
    let rest = multiply_add(e, real(x, LN_2_LOW), small) + lost;
    fast_two_sum(sum, rest)
}

/// The result for zero, negative numbers, infinity and NaN, and else `result`.
fn special<'b, 'c>(x: V<'b, 'c>, result: V<'b, 'c>) -> V<'b, 'c> {
    let infinity = real(x, f64::INFINITY);
    let result = x.eq(infinity).select(x, result);
    let result = x.eq(0).select(neg(infinity), result);
    let result = x.lt(0).select(real(x, f64::NAN), result);
    is_nan(x).select(x, result)
}

pub(super) fn log<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let (high, low) = log_in_two(x);
    special(x, high + low)
}

/// Exact for powers of two, whose mantissa's logarithm is 0.
pub(super) fn log2<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let Parts { e, m } = parts(x);
    let (large, small) = log_of_mantissa(m);
    let scaled = (large + small) * real(x, LOG2_E);
    special(x, e + scaled)
}

pub(super) fn log10<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let (high, low) = log_in_two(x);
    // What the constant lacks counts where the result is to be a whole number.
    const LOG10_E_REST: f64 = 1.098_319_650_216_765e-17;
    let product = high * real(x, LOG10_E);
    let lost = fma(high, real(x, LOG10_E), neg(product));
    let rest = multiply_add(
        low,
        real(x, LOG10_E),
        multiply_add(high, real(x, LOG10_E_REST), lost),
    );
    special(x, product + rest)
}

/// `ln u` for the rounded `u = 1 + x`, corrected by what rounding took.
pub(super) fn log1p<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let one = real(x, 1.0);
    let u = x + one;
    // The sum's error, whichever is larger (Knuth).
    let from_x = u - one;
    let lost = (one - (u - from_x)) + (x - from_x);
    let (high, low) = log_in_two(u);
    let near = high + (low + lost / u);
    let result = x.eq(real(x, f64::INFINITY)).select(x, near);
    let result = x
        .eq(real(x, -1.0))
        .select(real(x, f64::NEG_INFINITY), result);
    let result = x.lt(real(x, -1.0)).select(real(x, f64::NAN), result);
    // A zero's sign, what 1 swallows, and NaN.
    let swallowed = abs(x).lt(real(x, 2f64.powi(-54)));
    (swallowed | is_nan(x)).select(x, result)
}
