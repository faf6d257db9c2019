//! Floats where SPIR-V, or upstream's conversion, leaves open what the reference
//! semantics require: NaNs, signed zeros, classes, and missing functions.
//!
//! A float is classified and ordered as the integer of its bits. That is right also
//! on drivers that assume there are no NaNs or flush denormals; `denormals.rs` has
//! the other operations that must not flush them.
//!
//! `spirv.IsFinite` is OpenCL's. `GL.FMin` and `GL.FMax` leave NaNs and zeros of
//! both signs open. The functions of `GLSL.std.450` are not accurate enough:
//! `qd-expand-math` has replaced them by arithmetic.
//!
//! The basic operations and square roots are the device's. Vulkan promises that sums
//! and products are rounded correctly, but not quotients and roots, and on some
//! devices roots are not.

use super::Setting;
use melior::ir::Type;
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, OpExt, Value, bit_width},
    melior,
};

/// A float constant of the value's type.
pub(super) fn constant<'b, 'c>(like: V<'b, 'c>, value: f64) -> V<'b, 'c> {
    let (b, r#type): (_, Type<'c>) = (like.builder(), like.ty());
    b.constant(
        attributes::float_constant(b.context(), r#type, value),
        r#type,
    )
}

/// The bits.
pub(super) fn bits<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    x.bitcast(x.builder().int_type(bit_width(x.ty())))
}

/// The bits of infinity: an exponent of ones.
pub(super) fn infinity(r#type: Type<'_>) -> i64 {
    match bit_width(r#type) {
        16 => 0x7C00,
        32 => 0x7F80_0000,
        _ => 0x7FF0_0000_0000_0000,
    }
}

/// The bits of the smallest normal number: an exponent of 1.
pub(super) fn smallest_normal(r#type: Type<'_>) -> i64 {
    let infinity = infinity(r#type);
    infinity & infinity.wrapping_neg()
}

/// All bits but the sign.
pub(super) fn largest(r#type: Type<'_>) -> i64 {
    i64::MAX >> (64 - bit_width(r#type))
}

/// The bits without the sign.
pub(super) fn magnitude<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    bits(x) & largest(x.ty())
}

pub(super) fn is_nan<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    magnitude(x).gt(infinity(x.ty()))
}

/// Neither infinite nor NaN.
pub(super) fn is_finite<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    magnitude(x).lt(infinity(x.ty()))
}

/// An integer that is ordered as the numbers are, −0 below 0: of a negative
/// number all bits but the sign are turned.
fn ordered<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let bits = bits(x);
    let sign = i64::from(bit_width(x.ty())) - 1;
    bits ^ (bits.shr_signed(sign) & largest(x.ty()))
}

/// One of two numbers, by an order; of a number and a NaN the number.
fn of_numbers<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>, first: V<'b, 'c>) -> V<'b, 'c> {
    is_nan(x).select(y, (first | is_nan(y)).select(x, y))
}

/// The smaller; a NaN loses, and −0 is below 0.
pub(super) fn minnum<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    of_numbers(x, y, ordered(x).slt(ordered(y)))
}

/// The larger; a NaN loses, and −0 is below 0.
pub(super) fn maxnum<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    of_numbers(x, y, ordered(y).slt(ordered(x)))
}

/// A NaN wins.
fn or_nan<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>, number: V<'b, 'c>) -> V<'b, 'c> {
    (is_nan(x) | is_nan(y)).select(constant(x, f64::NAN), number)
}

/// The smaller; a NaN wins, and −0 is below 0.
pub(super) fn minimum<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    or_nan(x, y, ordered(x).slt(ordered(y)).select(x, y))
}

/// The larger; a NaN wins, and −0 is below 0.
pub(super) fn maximum<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    or_nan(x, y, ordered(y).slt(ordered(x)).select(x, y))
}

/// Declares the conversion of an op as a function of its operands.
macro_rules! conversions {
    ($($name:ident: $function:expr;)*) => {$(
        pub(super) fn $name<'c>(
            b: &Builder<'c>,
            op: Op<'c>,
            _: &Setting,
        ) -> Result<'c, Vec<Value<'c>>> {
            let function: for<'b> fn(&[V<'b, 'c>]) -> V<'b, 'c> = $function;
            Ok(vec![function(&b.vs(&op.operand_values())).value()])
        }
    )*};
}
pub(super) use conversions;

conversions! {
    clampf: |x| minimum(maximum(x[0], x[1]), x[2]);
    isfinite: |x| is_finite(x[0]);
    isinf: |x| magnitude(x[0]).eq(infinity(x[0].ty()));
    isnan: |x| is_nan(x[0]);
    isnormal: |x| is_normal(x[0]);
    maximumf: |x| maximum(x[0], x[1]);
    maxnumf: |x| maxnum(x[0], x[1]);
    minimumf: |x| minimum(x[0], x[1]);
    minnumf: |x| minnum(x[0], x[1]);
    roundeven: |x| round_even(x[0]);
    rsqrt: |x| constant(x[0], 1.0) / unary("math.sqrt", x[0]);
    trunc: |x| trunc_of(x[0]);
}

fn unary<'b, 'c>(name: &str, x: V<'b, 'c>) -> V<'b, 'c> {
    x.builder().result(name, &[x], x.ty(), &[])
}

/// Neither zero nor denormal nor infinite nor NaN.
fn is_normal<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let smallest = smallest_normal(x.ty());
    (magnitude(x) - smallest).lt(infinity(x.ty()) - smallest)
}

/// By adding a number so large that a sum with it has no fraction: sums are
/// rounded to even. Mesa 25 gets `GL.RoundEven` of an `f64` wrong with vectors of
/// 512 bits.
fn round_even<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let bits: i32 = match bit_width(x.ty()) {
        16 => 10,
        32 => 23,
        _ => 52,
    };
    let large = constant(x, 2f64.powi(bits));
    let magnitude = unary("math.absf", x);
    let rounded = (magnitude + large) - large;
    let signed = x
        .builder()
        .result("math.copysign", &[rounded, x], x.ty(), &[]);
    magnitude.lt(large).select(signed, x)
}

/// The magnitude's floor, with the sign.
fn trunc_of<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let floor = unary("math.floor", unary("math.absf", x));
    x.builder()
        .result("math.copysign", &[floor, x], x.ty(), &[])
}
