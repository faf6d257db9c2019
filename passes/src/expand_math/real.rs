//! What the functions are written with: constants, bits, polynomials.

use qd_dialects::{
    attributes,
    builder::{Builder, V},
    melior::ir::{Attribute, Type},
};

/// `f64`.
pub(super) fn double<'c>(b: &Builder<'c>) -> Type<'c> {
    Type::float64(b.context())
}

/// A constant next to a value.
pub(super) fn real<'b, 'c>(like: V<'b, 'c>, value: f64) -> V<'b, 'c> {
    let b = like.builder();
    let r#type = double(b);
    b.constant(
        attributes::float_constant(b.context(), r#type, value),
        r#type,
    )
}

fn unary<'b, 'c>(name: &str, x: V<'b, 'c>) -> V<'b, 'c> {
    x.builder().result(name, &[x], x.ty(), &[])
}

/// `a·b + c`, rounded once: where what a product loses is what is looked for.
pub(super) fn fma<'b, 'c>(a: V<'b, 'c>, b: V<'b, 'c>, c: V<'b, 'c>) -> V<'b, 'c> {
    a.builder().result("math.fma", &[a, b, c], a.ty(), &[])
}

/// `a·b + c`, in one operation or in two: a target without a fused one would
/// have to make it of many, and here nothing rests on it.
pub(super) fn multiply_add<'b, 'c>(a: V<'b, 'c>, b: V<'b, 'c>, c: V<'b, 'c>) -> V<'b, 'c> {
    let contract = Attribute::parse(a.builder().context(), "#arith.fastmath<contract>");
    let fastmath = [("fastmath", contract.expect("the arith dialect"))];
    a.builder()
        .result("math.fma", &[a, b, c], a.ty(), &fastmath)
}

pub(super) fn neg<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    unary("arith.negf", x)
}

pub(super) fn abs<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    unary("math.absf", x)
}

pub(super) fn sqrt<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    unary("math.sqrt", x)
}

/// To a whole number, ties to even.
pub(super) fn round<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    unary("math.roundeven", x)
}

pub(super) fn trunc<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    unary("math.trunc", x)
}

/// The magnitude of one and the sign of the other.
pub(super) fn copysign<'b, 'c>(magnitude: V<'b, 'c>, sign: V<'b, 'c>) -> V<'b, 'c> {
    magnitude
        .builder()
        .result("math.copysign", &[magnitude, sign], sign.ty(), &[])
}

pub(super) fn is_nan<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    x.ne(x)
}

/// The bits.
pub(super) fn bits<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    x.bitcast(x.builder().int_type(64))
}

/// The number of these bits.
pub(super) fn from_bits<'b, 'c>(bits: V<'b, 'c>) -> V<'b, 'c> {
    bits.bitcast(double(bits.builder()))
}

/// A whole number that fits, as an `i64`. One that is NaN or does not fit has no
/// value: see to it before.
pub(super) fn to_int<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let b = x.builder();
    b.result("arith.fptosi", &[x], b.int_type(64), &[])
}

pub(super) fn from_int<'b, 'c>(n: V<'b, 'c>) -> V<'b, 'c> {
    let b = n.builder();
    b.result("arith.sitofp", &[n], double(b), &[])
}

pub(super) fn from_unsigned<'b, 'c>(n: V<'b, 'c>) -> V<'b, 'c> {
    let b = n.builder();
    b.result("arith.uitofp", &[n], double(b), &[])
}

/// `c₀ + c₁·x + c₂·x² + …`, by Horner's rule.
pub(super) fn polynomial<'b, 'c>(x: V<'b, 'c>, coefficients: &[f64]) -> V<'b, 'c> {
    let (last, rest) = coefficients.split_last().expect("a coefficient");
    rest.iter()
        .rev()
        .fold(real(x, *last), |sum, c| multiply_add(sum, x, real(x, *c)))
}

/// `2ⁿ` for an `i64` n of a normal number.
pub(super) fn power_of_two<'b, 'c>(n: V<'b, 'c>) -> V<'b, 'c> {
    from_bits((n + 1023) << 52)
}

/// `x·2ⁿ` for n from −2044 to 2046, in two steps: 2ⁿ itself may be out of range,
/// and only the second step rounds.
pub(super) fn scale<'b, 'c>(x: V<'b, 'c>, n: V<'b, 'c>) -> V<'b, 'c> {
    let half = n.shr_signed(1);
    x * power_of_two(half) * power_of_two(n - half)
}

/// `a + b`, and what rounding took from it, for `|a| ≥ |b|` (Dekker, 1971).
pub(super) fn fast_two_sum<'b, 'c>(a: V<'b, 'c>, b: V<'b, 'c>) -> (V<'b, 'c>, V<'b, 'c>) {
    let sum = a + b;
    (sum, b - (sum - a))
}
