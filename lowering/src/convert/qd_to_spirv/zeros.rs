//! Sums, differences and quotients with a constant zero.
//!
//! Mesa's code for the CPU folds `x + 0` and `x − −0` to `x`, `0 − x` to `−x`, `0 / x`
//! to 0, and `x / 0` to anything, also in modules that require signed zeros and NaNs,
//! and with `NoContraction`. These results are known except for the sign, which is
//! computed from the bits. Constants that are −0 are not folded there, and are left.

use super::floats::{infinity, largest};
use melior::ir::{Type, attribute::IntegerAttribute};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    ir::{Op, OpExt, Value, ValueExt, bit_width},
    melior,
};

/// Replaces such an op of the `spirv` dialect.
pub(super) fn replace(op: Op<'_>) {
    let b = Builder::before(op);
    if let Some(result) = exact(&b, op) {
        op.replace_with(&[result.value()]);
    }
}

fn exact<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> Option<V<'b, 'c>> {
    let [x, y] = op.operand_values()[..] else {
        return None;
    };
    let with =
        |x: Value<'c>, function: fn(V<'b, 'c>) -> V<'b, 'c>| Some(in_words(b.v(x), function));
    match (op.full_name(), zero(x), zero(y)) {
        ("spirv.FAdd", _, Some(Zero::Plus)) => with(x, plus_zero),
        ("spirv.FAdd", Some(Zero::Plus), _) => with(y, plus_zero),
        ("spirv.FSub", _, Some(Zero::Minus)) => with(x, plus_zero),
        ("spirv.FSub", Some(Zero::Plus), _) => with(y, |y| plus_zero(negated(y))),
        ("spirv.FDiv", Some(Zero::Plus), _) => with(y, |y| with_sign_of(y, 0)),
        ("spirv.FDiv", _, Some(Zero::Plus)) => with(x, |x| with_sign_of(x, infinity(x.ty()))),
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zero {
    Plus,
    Minus,
}

/// Which zero a constant is.
fn zero(value: Value<'_>) -> Option<Zero> {
    let constant = value.defining_op().filter(|op| op.is("spirv.Constant"))?;
    let number = attributes::float(constant.attr("value")?)?;
    match number == 0.0 {
        true if number.is_sign_negative() => Some(Zero::Minus),
        true => Some(Zero::Plus),
        false => None,
    }
}

/// A function of a float as one of `f32` if it is narrower: integers as narrow are more
/// than many devices have.
fn in_words<'b, 'c>(x: V<'b, 'c>, function: fn(V<'b, 'c>) -> V<'b, 'c>) -> V<'b, 'c> {
    if bit_width(x.ty()) >= 32 {
        return function(x);
    }
    let b = x.builder();
    let convert = |x: V<'b, 'c>, to| b.result("spirv.FConvert", &[x], to, &[]);
    convert(function(convert(x, Type::float32(b.context()))), x.ty())
}

/// `x + 0`: 0 for −0.
fn plus_zero<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let bits = bits(x);
    let is_minus_zero = test("spirv.IEqual", bits, !largest(x.ty()));
    select(is_minus_zero, float(word(bits, 0), x.ty()), x)
}

fn negated<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let sign = !largest(x.ty());
    float(with_word("spirv.BitwiseXor", bits(x), sign), x.ty())
}

/// The number of this magnitude with the sign of `x`; a NaN if `x` is one, or zero.
fn with_sign_of<'b, 'c>(x: V<'b, 'c>, magnitude: i64) -> V<'b, 'c> {
    let (b, bits, r#type) = (x.builder(), bits(x), x.ty());
    let of_x = with_word("spirv.BitwiseAnd", bits, largest(r#type));
    let is_zero = test("spirv.IEqual", of_x, 0);
    let is_nan = test("spirv.UGreaterThan", of_x, infinity(r#type));
    let is_undefined = b.result("spirv.LogicalOr", &[is_zero, is_nan], is_nan.ty(), &[]);
    let sign = with_word("spirv.BitwiseAnd", bits, !largest(r#type));
    let number = with_word("spirv.BitwiseOr", sign, magnitude);
    // The highest bit of the fraction says that a NaN is quiet.
    let quiet = infinity(r#type) >> 1 | infinity(r#type);
    let chosen = select(is_undefined, word(bits, quiet), number);
    float(chosen, r#type)
}

fn bits<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let b = x.builder();
    b.result("spirv.Bitcast", &[x], b.int_type(bit_width(x.ty())), &[])
}

fn float<'b, 'c>(bits: V<'b, 'c>, r#type: Type<'c>) -> V<'b, 'c> {
    bits.builder().result("spirv.Bitcast", &[bits], r#type, &[])
}

/// A constant of the type of `like`.
fn word<'b, 'c>(like: V<'b, 'c>, value: i64) -> V<'b, 'c> {
    let (b, r#type) = (like.builder(), like.ty());
    let value = IntegerAttribute::new(r#type, value).into();
    b.result("spirv.Constant", &[], r#type, &[("value", value)])
}

fn with_word<'b, 'c>(name: &str, x: V<'b, 'c>, value: i64) -> V<'b, 'c> {
    let operands = [x, word(x, value)];
    x.builder().result(name, &operands, x.ty(), &[])
}

fn test<'b, 'c>(name: &str, x: V<'b, 'c>, value: i64) -> V<'b, 'c> {
    let b = x.builder();
    b.result(name, &[x, word(x, value)], b.int_type(1), &[])
}

fn select<'b, 'c>(condition: V<'b, 'c>, x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    let operands = [condition, x, y];
    x.builder().result("spirv.Select", &operands, x.ty(), &[])
}
