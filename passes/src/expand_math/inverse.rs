//! Inverse functions: of the trigonometric ones through the arc tangent, of the
//! hyperbolic ones through logarithms.

use super::{
    logarithm::{log, log1p},
    real::{abs, bits, copysign, multiply_add, polynomial, real, sqrt},
};
use qd_dialects::builder::V;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, PI};

/// What [`FRAC_PI_2`] lacks of π/2.
const FRAC_PI_2_REST: f64 = 6.123_233_995_736_766e-17;

/// The arc tangent of `y/x ≥ 0`, both not negative, of which not both are zero.
/// With `t = min/max`, and where that is above √2 − 1 with `(t − 1)/(t + 1)` and
/// π/4 more: `|t| ≤ 0.415`, where 22 terms of the
/// series are off by less than 2⁻⁵⁷.
fn of_quotient<'b, 'c>(y: V<'b, 'c>, x: V<'b, 'c>) -> V<'b, 'c> {
    let steep = y.gt(x);
    let (small, large) = (steep.select(x, y), steep.select(y, x));
    let zero = real(x, 0.0);
    let above = small.gt(large * real(x, 0.414_213_562_373_095));
    let quotient = small / large;
    let one = real(x, 1.0);
    let t = above.select((quotient - one) / (quotient + one), quotient);
    let t2 = t * t;
    let coefficients: Vec<_> = (1..22)
        .map(|k| (if k % 2 == 0 { 1.0 } else { -1.0 }) / f64::from(2 * k + 1))
        .collect();
    let small_part = t * t2 * polynomial(t2, &coefficients);
    // From the small to the large, and from π/2 if the quotient is upside down.
    let offset = above.select(real(x, FRAC_PI_4), zero);
    let offset_rest = above.select(real(x, FRAC_PI_2_REST * 0.5), zero);
    let flat = offset + (t + (small_part + offset_rest));
    let steep_angle = (real(x, FRAC_PI_2) - offset)
        - (t + (small_part + (offset_rest - real(x, FRAC_PI_2_REST))));
    steep.select(steep_angle, flat)
}

pub(super) fn atan<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let magnitude = abs(x);
    // A quotient of two infinities is none.
    let infinite = magnitude.eq(real(x, f64::INFINITY));
    let angle = of_quotient(magnitude, real(x, 1.0));
    let angle = infinite.select(real(x, FRAC_PI_2), angle);
    copysign(angle, x)
}

pub(super) fn atan2<'b, 'c>(y: V<'b, 'c>, x: V<'b, 'c>) -> V<'b, 'c> {
    let (up, right) = (abs(y), abs(x));
    let infinity = real(x, f64::INFINITY);
    let (one, zero) = (real(x, 1.0), real(x, 0.0));
    // Of two infinities each counts as one; of two zeros the quotient is zero.
    let both = up.eq(infinity) & right.eq(infinity);
    let neither = up.eq(0) & right.eq(0);
    let right = (both | neither).select(one, right);
    let up = both.select(one, neither.select(zero, up));
    // And next to an infinity anything else is zero.
    let (right, up) = (
        up.eq(infinity).select(zero, right),
        right.eq(infinity).select(zero, up),
    );
    let up = up.eq(infinity).select(one, up);
    let right = right.eq(infinity).select(one, right);
    let angle = of_quotient(up, right);
    let to_the_left = (real(x, PI) - angle) + real(x, 2.0 * FRAC_PI_2_REST);
    let angle = bits(x).slt(0).select(to_the_left, angle);
    // A NaN in either is one in the sum.
    let nan = x + y;
    let is_nan = x.ne(x) | y.ne(y);
    is_nan.select(nan, copysign(angle, y))
}

pub(super) fn asin<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let one = real(x, 1.0);
    let magnitude = abs(x);
    let other = sqrt((one - magnitude) * (one + magnitude));
    copysign(of_quotient(magnitude, other), x)
}

pub(super) fn acos<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let one = real(x, 1.0);
    let half = of_quotient(sqrt(one - x), sqrt(one + x));
    half + half
}

/// Beyond this, 1 is nothing next to x².
const LARGE: f64 = 268_435_456.0;

pub(super) fn asinh<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let one = real(x, 1.0);
    let magnitude = abs(x);
    let square = magnitude * magnitude;
    let near = log1p(magnitude + square / (one + sqrt(square + one)));
    let far = log(magnitude) + real(x, LN_2);
    let result = magnitude.gt(real(x, LARGE)).select(far, near);
    copysign(result, x)
}

pub(super) fn acosh<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let above = x - real(x, 1.0);
    let near = log1p(above + sqrt(multiply_add(above, above, above + above)));
    let far = log(x) + real(x, LN_2);
    let result = x.gt(real(x, LARGE)).select(far, near);
    x.lt(real(x, 1.0)).select(real(x, f64::NAN), result)
}

pub(super) fn atanh<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let magnitude = abs(x);
    let quotient = (magnitude + magnitude) / (real(x, 1.0) - magnitude);
    // Beyond 1 the logarithm is of a number below −1: NaN.
    let result = log1p(quotient) * real(x, 0.5);
    copysign(result, x)
}
