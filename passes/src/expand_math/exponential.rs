//! Exponentials and what is made of them.
//!
//! `eˣ = 2ⁿ·eʳ` with `|r| ≤ ln 2 / 2`, where Taylor's series of 14 terms is off by
//! less than 2⁻⁵⁷.

use super::real::{
    abs, copysign, fma, is_nan, multiply_add, neg, polynomial, power_of_two, real, round, scale,
    to_int,
};
use qd_dialects::builder::V;
use std::f64::consts::{LN_2, LOG2_E};

/// What `LN_2` lacks of the logarithm of 2.
const LN_2_REST: f64 = 2.3190468138462996e-17;

/// `1/n!` for n from `first` up, so many.
fn reciprocal_factorials(first: u32, count: u32) -> Vec<f64> {
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    (first..first + count).map(|n| 1.0 / factorial(n)).collect()
}

/// A number within bounds; a NaN becomes one of them.
fn within<'b, 'c>(x: V<'b, 'c>, low: f64, high: f64) -> V<'b, 'c> {
    x.max(real(x, low)).min(real(x, high))
}

/// The whole number n of doublings, and what is left of `x`.
fn reduce<'b, 'c>(x: V<'b, 'c>) -> (V<'b, 'c>, V<'b, 'c>) {
    let n = round(x * real(x, LOG2_E));
    let r = fma(n, real(x, -LN_2), x);
    (to_int(n), multiply_add(n, real(x, -LN_2_REST), r))
}

fn series<'b, 'c>(r: V<'b, 'c>) -> V<'b, 'c> {
    polynomial(r, &reciprocal_factorials(0, 14))
}

pub(super) fn exp<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let result = exp_of_sum(x, None);
    is_nan(x).select(x, result)
}

/// `e` to the sum of a number and a small one. No NaN comes out.
pub(super) fn exp_of_sum<'b, 'c>(x: V<'b, 'c>, small: Option<V<'b, 'c>>) -> V<'b, 'c> {
    // Beyond, the result is infinite or zero.
    let bounded = within(x, -746.0, 710.0);
    let (n, r) = reduce(bounded);
    let r = small.map_or(r, |small| r + small);
    scale(series(r), n)
}

pub(super) fn exp2<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let bounded = within(x, -1076.0, 1025.0);
    let n = round(bounded);
    let r = (bounded - n) * real(x, LN_2);
    is_nan(x).select(x, scale(series(r), to_int(n)))
}

/// `eˣ − 1 = 2ⁿ·(eʳ − 1) + (2ⁿ − 1)`: near 0 nothing cancels.
pub(super) fn expm1<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    // Below, the result is −1; above, 2ⁿ is no number and 1 does not matter.
    let bounded = within(x, -50.0, 709.0);
    let (n, r) = reduce(bounded);
    let less = r * polynomial(r, &reciprocal_factorials(1, 14));
    let power = power_of_two(n);
    let near = multiply_add(power, less, power - 1);
    let result = x.gt(real(x, 709.0)).select(exp(x), near);
    // A zero's sign, and NaN.
    (x.eq(0) | is_nan(x)).select(x, result)
}

pub(super) fn sinh<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let magnitude = abs(x);
    let e = expm1(magnitude);
    let near = (e + e / (e + 1)) * real(x, 0.5);
    let result = magnitude
        .gt(real(x, 700.0))
        .select(half_exp(magnitude), near);
    copysign(result, x)
}

pub(super) fn cosh<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let magnitude = abs(x);
    let e = exp(magnitude);
    let near = (e + real(x, 1.0) / e) * real(x, 0.5);
    magnitude
        .gt(real(x, 700.0))
        .select(half_exp(magnitude), near)
}

/// `eˣ/2`, where `eˣ` may be out of range.
fn half_exp<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let root = exp(x * real(x, 0.5));
    root * real(x, 0.5) * root
}

/// `(1 − e⁻²ˣ)/(1 + e⁻²ˣ)`.
pub(super) fn tanh<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let magnitude = abs(x);
    let e = expm1(neg(magnitude + magnitude));
    copysign(neg(e) / (e + 2), x)
}
