//! The remainder of a division, exactly.
//!
//! Long division of the mantissas, a bit at a time: as many steps as the
//! exponents differ, usually few.

use super::real::{abs, bits, copysign, from_bits, is_nan, real};
use qd_dialects::builder::V;

/// The mantissa as an integer of 53 bits, and the exponent that goes with it.
/// Zero has garbage.
fn parts<'b, 'c>(x: V<'b, 'c>) -> (V<'b, 'c>, V<'b, 'c>) {
    let b = x.builder();
    let word = bits(x);
    let biased = word >> 52;
    let fraction = word & ((1 << 52) - 1);
    let normal = biased.ne(0);
    let mantissa = normal.select(fraction | (1 << 52), fraction);
    let exponent = normal.select(biased, b.i64(1));
    normalized(mantissa, exponent)
}

/// Shifted so that the 53rd bit is the highest. Zero must not be.
fn normalized<'b, 'c>(mantissa: V<'b, 'c>, exponent: V<'b, 'c>) -> (V<'b, 'c>, V<'b, 'c>) {
    let b = mantissa.builder();
    let zeros = b.result("math.ctlz", &[mantissa], mantissa.ty(), &[]);
    let shift = zeros.min(63) - 11;
    (mantissa << shift, exponent - shift)
}

pub(super) fn remainder<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    let b = x.builder();
    let (dividend, divisor) = (abs(x), abs(y));
    let (mx, ex) = parts(dividend);
    let (my, ey) = parts(divisor);
    let infinity = real(x, f64::INFINITY);
    let defined = dividend.lt(infinity) & divisor.gt(real(x, 0.0)) & !is_nan(y);
    // Smaller than the divisor, and so its own remainder.
    let own = dividend.lt(divisor);
    let steps = (defined & !own).select(ex - ey, b.i64(0));
    let reduce = |mantissa: V<'b, 'c>| {
        let less = mantissa - my;
        less.slt(0).select(mantissa, less)
    };
    let [rest, _] = b.while_(
        [mx, steps],
        |[_, left]| b.i64(0).slt(*left),
        |[mantissa, left]| [reduce(mantissa) << 1, left - 1],
    );
    let rest = reduce(rest);
    let (mantissa, exponent) = normalized(rest, ey);
    // Back to a float, denormal or not.
    let normal = b.i64(0).slt(exponent);
    let whole = (mantissa & ((1 << 52) - 1)) | (exponent << 52);
    let shift = normal.select(b.i64(0), b.i64(1) - exponent).min(63);
    let value = from_bits(normal.select(whole, mantissa >> shift));
    let value = rest.eq(0).select(real(x, 0.0), value);
    let value = own.select(dividend, value);
    defined.select(copysign(value, x), real(x, f64::NAN))
}
