//! Powers and cube roots.

use super::{
    exponential::exp_of_sum,
    logarithm::log_in_two,
    real::{
        abs, bits, copysign, fast_two_sum, fma, from_bits, is_nan, multiply_add, neg, real, trunc,
    },
};
use qd_dialects::builder::V;

/// `e^(y·ln |x|)`, with the logarithm and the product in two numbers each: what
/// one would lack counts as often as the exponent is large.
pub(super) fn powf<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    let magnitude = abs(x);
    let (zero, one, infinity) = (real(x, 0.0), real(x, 1.0), real(x, f64::INFINITY));
    let (high, low) = log_in_two(magnitude);
    // A larger exponent gives 0, 1 or infinity all the same, and its product is
    // a number.
    let bound = real(x, 2f64.powi(70));
    let bounded = abs(y).gt(bound).select(copysign(bound, y), y);
    let product = high * bounded;
    let rest = fma(high, bounded, neg(product)) + low * bounded;
    let (product, rest) = fast_two_sum(product, rest);
    // Where the result is in range, the rest is small.
    let in_range = abs(product).lt(real(x, 1000.0));
    let result = exp_of_sum(product, Some(in_range.select(rest, zero)));

    // Zero and infinity, to positive and negative powers.
    let negative = y.lt(0);
    let of_zero = negative.select(infinity, zero);
    let of_infinity = negative.select(zero, infinity);
    let result = magnitude.eq(0).select(of_zero, result);
    let result = magnitude.eq(infinity).select(of_infinity, result);
    let result = magnitude.eq(1).select(one, result);

    // A negative base: the sign of an odd power; NaN unless the power is whole.
    let whole = trunc(y).eq(y);
    let half = y * real(x, 0.5);
    let odd = whole & trunc(half).ne(half);
    let below = bits(x).slt(0);
    let result = (below & odd).select(neg(result), result);
    let undefined = x.lt(0) & !whole & x.gt(neg(infinity));
    let result = undefined.select(real(x, f64::NAN), result);

    let result = (is_nan(x) | is_nan(y)).select(x + y, result);
    (x.eq(1) | y.eq(0)).select(one, result)
}

/// A third of the exponent for a start, right to 5 bits, and Halley's iteration,
/// which triples them.
pub(super) fn cbrt<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let b = x.builder();
    let magnitude = abs(x);
    // Out of the way of denormals and of what has no cube of its own size.
    let tiny = magnitude.lt(real(x, f64::MIN_POSITIVE));
    let huge = magnitude.gt(real(x, 2f64.powi(1000)));
    let scales = |tiny_one: i32, huge_one: i32| {
        let one = huge.select(real(x, 2f64.powi(huge_one)), real(x, 1.0));
        tiny.select(real(x, 2f64.powi(tiny_one)), one)
    };
    let normal = magnitude * scales(54, -54);
    // Two thirds of 1's bits, less a little that evens the error out.
    let third = bits(normal) / 3 + b.i64(0x2A9F_7893_0000_0000);
    let mut root = from_bits(third);
    for _ in 0..4 {
        let cube = root * root * root;
        let factor = (cube - normal) / (cube + cube + normal);
        root = multiply_add(neg(root), factor, root);
    }
    let root = root * scales(-18, 18);
    // Zero, infinity and NaN are their own.
    let own = x.eq(0) | !magnitude.lt(real(x, f64::INFINITY));
    own.select(x, copysign(root, x))
}
