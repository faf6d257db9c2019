//! Denormals on devices that may flush them to zero.
//!
//! Vulkan lets arithmetic, comparisons and conversions of floats do that unless a
//! module declares that they must not, which a device need not support. In
//! arithmetic a flushed denormal is a negligible error, and is left to the device.
//! In comparisons, selects and tests for whole numbers it is not negligible, so
//! those are done on integers; and so are operations for which integers cost hardly
//! more.
//!
//! Floats of 16 bits are the device's: many devices lack arithmetic of 16-bit
//! integers.

use super::floats::{bits, constant, infinity, is_nan, largest, magnitude, smallest_normal};
use melior::ir::{Type, ValueLike};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    ir::{Op, OpExt, Value, ValueExt, bit_width, is_float},
    melior,
};

/// What an op becomes that is exact for denormals on every device; none if it is
/// no such op, or is left as it is.
pub(super) fn exact<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> Option<V<'b, 'c>> {
    let name = op.full_name();
    let x = b.v(*op.operand_values().first()?);
    if name == "arith.cmpf" {
        return compare(b, op);
    }
    if !is_decided_here(x.ty()) {
        let is_rounded = is_float(x.ty()) && matches!(name, "math.ceil" | "math.floor");
        return is_rounded.then(|| rounded_by_device(name, x));
    }
    Some(match name {
        "arith.extf" => extended(x),
        "arith.negf" => (bits(x) ^ sign(x)).bitcast(x.ty()),
        // Rounded otherwise it is SPIR-V's.
        "arith.truncf" if op.attr("roundingmode").is_none() => {
            let to = op.first_result().r#type();
            is_decided_here(to).then(|| truncated(x, to))?
        }
        "math.absf" => magnitude(x).bitcast(x.ty()),
        "math.ceil" => rounded(name, x, 0, 1.0),
        "math.floor" => rounded(name, x, sign(x), -1.0),
        _ => return None,
    })
}

/// Whether this is a float of a width that is not left to the device.
fn is_decided_here(r#type: Type<'_>) -> bool {
    is_float(r#type) && bit_width(r#type) >= 32
}

/// The bit that is the sign.
fn sign(x: V<'_, '_>) -> i64 {
    !largest(x.ty())
}

/// Predicates of `arith.cmpf`, by their number.
mod predicate {
    pub const FALSE: i64 = 0;
    pub const OEQ: i64 = 1;
    pub const OGT: i64 = 2;
    pub const OGE: i64 = 3;
    pub const OLT: i64 = 4;
    pub const OLE: i64 = 5;
    pub const ONE: i64 = 6;
    pub const ORD: i64 = 7;
    pub const UEQ: i64 = 8;
    pub const UGT: i64 = 9;
    pub const UGE: i64 = 10;
    pub const ULT: i64 = 11;
    pub const ULE: i64 = 12;
    pub const UNE: i64 = 13;
    pub const UNO: i64 = 14;
    pub const TRUE: i64 = 15;
}

/// Unordered predicates are what the opposite ordered ones are not.
fn compare<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> Option<V<'b, 'c>> {
    let [left, right] = op.operand_values()[..] else {
        return None;
    };
    let (x, y) = (b.v(left), b.v(right));
    let predicate = op.attr("predicate").and_then(attributes::int)?;
    let compares = !matches!(
        predicate,
        predicate::FALSE | predicate::ORD | predicate::UNO | predicate::TRUE
    );
    let is_plain = |value| is_far_from_denormals(value) || !is_decided_here(x.ty());
    if compares && (is_plain(left) || is_plain(right)) {
        return None;
    }
    Some(match predicate {
        predicate::FALSE => b.bool(false),
        predicate::OEQ => are_same(x, y) & !is_nan(x),
        predicate::OGT => is_less(y, x),
        predicate::OGE => is_at_most(y, x),
        predicate::OLT => is_less(x, y),
        predicate::OLE => is_at_most(x, y),
        predicate::ONE => !(are_same(x, y) | has_nan(x, y)),
        predicate::ORD => !has_nan(x, y),
        predicate::UEQ => are_same(x, y) | has_nan(x, y),
        predicate::UGT => !is_at_most(x, y),
        predicate::UGE => !is_less(x, y),
        predicate::ULT => !is_at_most(y, x),
        predicate::ULE => !is_less(y, x),
        predicate::UNE => !are_same(x, y) | is_nan(x),
        predicate::UNO => has_nan(x, y),
        predicate::TRUE => b.bool(true),
        _ => return None,
    })
}

/// A constant that compares with a denormal as it does with zero.
fn is_far_from_denormals(value: Value<'_>) -> bool {
    let constant = value.defining_op().filter(|op| op.is("arith.constant"));
    let number = constant.and_then(|op| op.attr("value"));
    let smallest = match bit_width(value.r#type()) {
        32 => f32::MIN_POSITIVE.into(),
        _ => f64::MIN_POSITIVE,
    };
    number
        .and_then(attributes::float)
        .is_some_and(|number| number.abs() >= smallest)
}

fn has_nan<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    magnitude(x).max(magnitude(y)).gt(infinity(x.ty()))
}

/// Whether two numbers are one, or both zero; a NaN is the same as itself.
fn are_same<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    let (x, y) = (bits(x), bits(y));
    x.eq(y) | ((x | y) << 1).eq(0)
}

/// An integer that is ordered as the numbers are, of zeros of both signs 0.
fn ordered<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let word = bits(x);
    word.slt(0).select(word.same(sign(x)) - word, word)
}

/// The order of two numbers, which `holds` says of their integers. Positive NaNs
/// are above all numbers and negative ones below, so that only the side at which a
/// NaN would hold is looked at.
fn of_numbers<'b, 'c>(
    x: V<'b, 'c>,
    y: V<'b, 'c>,
    holds: fn(V<'b, 'c>, V<'b, 'c>) -> V<'b, 'c>,
) -> V<'b, 'c> {
    let infinity = infinity(x.ty());
    let (x, y) = (ordered(x), ordered(y));
    holds(x, y) & x.same(-infinity).sle(x) & y.sle(infinity)
}

fn is_less<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    of_numbers(x, y, |x, y| x.slt(y))
}

fn is_at_most<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    of_numbers(x, y, |x, y| x.sle(y))
}

/// An `f32` as `f64`, where a denormal is normal: so many times the smallest, 2⁻¹⁴⁹.
pub(super) fn extended<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let b = x.builder();
    let double = Type::float64(b.context());
    let converted = b.result("arith.extf", &[x], double, &[]);
    let times = b.result("arith.sitofp", &[ordered(x)], double, &[]);
    let scaled = times * constant(times, 2f64.powi(-149));
    // Not zero, which has no sign as an integer.
    let is_denormal = (magnitude(x) - 1).lt(smallest_normal(x.ty()) - 1);
    is_denormal.select(scaled, converted)
}

/// An `f64` as `f32`, of which the denormals are integers: how often they hold the
/// smallest, 2⁻¹⁴⁹, rounded by a sum that leaves no place for a fraction. The
/// least normal number comes after the largest of them.
pub(super) fn truncated<'b, 'c>(x: V<'b, 'c>, to: Type<'c>) -> V<'b, 'c> {
    let b = x.builder();
    let converted = b.result("arith.truncf", &[x], to, &[]);
    let magnitude = magnitude(x);
    let scaled = magnitude.bitcast(x.ty()) * constant(x, 2f64.powi(149));
    let times = bits(scaled + constant(x, 2f64.powi(52))).to_i32();
    let sign = (bits(x) >> 32).to_i32() & sign(converted);
    let smallest = f64::from(f32::MIN_POSITIVE).to_bits();
    let is_small = magnitude.lt(smallest as i64);
    is_small.select((times | sign).bitcast(to), converted)
}

/// A number rounded to a whole one, where denormals after the zero of these bits
/// become `whole`.
fn rounded<'b, 'c>(name: &str, x: V<'b, 'c>, zero: i64, whole: f64) -> V<'b, 'c> {
    let device = rounded_by_device(name, x);
    let first = zero + 1;
    let is_denormal = (bits(x) - first).lt(smallest_normal(x.ty()) - 1);
    is_denormal.select(constant(x, whole), device)
}

/// A number rounded to a whole one of the same sign, which devices may lose of zeros: Mesa 25
/// does, with vectors of 512 bits on CPUs that have none.
fn rounded_by_device<'b, 'c>(name: &str, x: V<'b, 'c>) -> V<'b, 'c> {
    let b = x.builder();
    let whole = b.result(name, &[x], x.ty(), &[]);
    b.result("math.copysign", &[whole, x], x.ty(), &[])
}
