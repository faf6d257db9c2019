//! Python's arithmetic in MLIR's operations.

use super::{
    dtype::DType::{self, *},
    record::{Binary, Unary},
};
use half::f16;
use qd_frontend::{
    builder::{Builder, V},
    ir::Type,
};

/// The type of a value.
pub fn type_of<'c>(b: &Builder<'c>, dtype: DType) -> Type<'c> {
    match dtype {
        F16 => Type::float16(b.context()),
        F32 => b.f32_type(),
        F64 => b.f64_type(),
        _ => b.int_type(dtype.bits()),
    }
}

/// The type of an element of an array.
pub fn stored_type<'c>(b: &Builder<'c>, dtype: DType) -> Type<'c> {
    match dtype {
        U1 => b.int_type(8),
        _ => type_of(b, dtype),
    }
}

/// A constant, by its bits.
pub fn constant<'b, 'c>(b: &'b Builder<'c>, dtype: DType, bits: u64) -> V<'b, 'c> {
    let r#type = type_of(b, dtype);
    match dtype {
        F16 => b.float(r#type, f16::from_bits(bits as u16).into()),
        F32 => b.float(r#type, f32::from_bits(bits as u32).into()),
        F64 => b.float(r#type, f64::from_bits(bits)),
        // Sign-extended from its width, as attributes have them.
        U1 => b.bool(bits != 0),
        _ => {
            let unused = 64 - dtype.bits();
            b.int(r#type, ((bits << unused) as i64) >> unused)
        }
    }
}

/// An operation of one result of its operands' type.
fn plain<'b, 'c>(name: &str, operands: &[V<'b, 'c>]) -> V<'b, 'c> {
    let first = operands[0];
    first.builder().result(name, operands, first.ty(), &[])
}

/// A function of reals, which is computed in 32 bits for those of 16.
fn function<'b, 'c>(name: &str, operands: &[V<'b, 'c>], dtype: DType) -> V<'b, 'c> {
    if dtype != F16 {
        return plain(name, operands);
    }
    let wide: Vec<_> = operands.iter().map(|x| converted(*x, F16, F32)).collect();
    converted(plain(name, &wide), F32, F16)
}

/// A count of bits, which is an i32.
fn counted<'b, 'c>(name: &str, x: V<'b, 'c>) -> V<'b, 'c> {
    let b = x.builder();
    b.result(name, &[x], b.int_type(32), &[])
}

pub fn unary<'b, 'c>(op: Unary, x: V<'b, 'c>, dtype: DType) -> V<'b, 'c> {
    match op {
        Unary::Neg => -x,
        Unary::Not => !x,
        Unary::LogicNot => x.eq(0),
        Unary::Abs if dtype.is_real() => plain("math.absf", &[x]),
        Unary::Abs if dtype.is_signed() => x.slt(0).select(-x, x),
        Unary::Abs => x,
        Unary::Sqrt => function("math.sqrt", &[x], dtype),
        Unary::Exp => function("math.exp", &[x], dtype),
        Unary::Log => function("math.log", &[x], dtype),
        Unary::Sin => function("math.sin", &[x], dtype),
        Unary::Cos => function("math.cos", &[x], dtype),
        Unary::Tan => function("math.tan", &[x], dtype),
        Unary::Asin => function("math.asin", &[x], dtype),
        Unary::Acos => function("math.acos", &[x], dtype),
        Unary::Tanh => function("math.tanh", &[x], dtype),
        Unary::Floor => plain("math.floor", &[x]),
        Unary::Ceil => plain("math.ceil", &[x]),
        Unary::Round => plain("math.roundeven", &[x]),
        Unary::Popcnt => counted("qd.math.popcnt", x),
        Unary::Clz => counted("qd.math.clz", x),
        Unary::Ffs => counted("qd.math.ffs", x),
    }
}

/// Operands of one type, but for shifts and powers.
pub fn binary<'b, 'c>(
    op: Binary,
    a: V<'b, 'c>,
    b: V<'b, 'c>,
    dtype: DType,
    exponent: DType,
) -> V<'b, 'c> {
    use Binary::*;
    let is_signed = dtype.is_signed();
    match op {
        Add => a + b,
        Sub => a - b,
        Mul => a * b,
        Div => a / b,
        FloorDiv if dtype.is_real() => plain("math.floor", &[a / b]),
        FloorDiv => divided(a, b, is_signed, true).0,
        Mod if dtype.is_real() => a - b * plain("math.floor", &[a / b]),
        Mod => divided(a, b, is_signed, true).1,
        RawDiv if dtype.is_real() => a / b,
        RawDiv => divided(a, b, is_signed, false).0,
        RawMod if dtype.is_real() => function("arith.remf", &[a, b], dtype),
        RawMod => divided(a, b, is_signed, false).1,
        Pow if exponent.is_real() => function("math.powf", &[a, b], dtype),
        Pow => power(a, b, exponent),
        And => a & b,
        Or => a | b,
        Xor => a ^ b,
        Shl => a << b,
        Shr if is_signed => a.shr_signed(b),
        Shr | BitShr => a >> b,
        Min if is_signed => a.min_signed(b),
        Min => a.min(b),
        Max if is_signed => a.max_signed(b),
        Max => a.max(b),
        Atan2 => function("math.atan2", &[a, b], dtype),
        Eq => a.eq(b),
        Ne => a.ne(b),
        Lt if is_signed => a.slt(b),
        Lt => a.lt(b),
        Le if is_signed => a.sle(b),
        Le => a.le(b),
        Gt if is_signed => a.sgt(b),
        Gt => a.gt(b),
        Ge if is_signed => a.sge(b),
        Ge => a.ge(b),
    }
}

/// Quotient and remainder of integers. What is undefined does not trap: a machine's division by 0 does, and
/// that of the least number by −1, which wraps here.
fn divided<'b, 'c>(
    a: V<'b, 'c>,
    b: V<'b, 'c>,
    is_signed: bool,
    floors: bool,
) -> (V<'b, 'c>, V<'b, 'c>) {
    let one = b.same(1);
    if !is_signed {
        let by = b.eq(0).select(one, b);
        return (a / by, a % by);
    }
    let is_negation = b.eq(-1);
    let by = (b.eq(0) | is_negation).select(one, b);
    let (quotient, remainder) = (a.div_signed(by), a.rem_signed(by));
    let quotient = is_negation.select(-a, quotient);
    if !floors {
        return (quotient, remainder);
    }
    // By −1 and by 1 there is no remainder.
    let is_above = remainder.ne(0) & (remainder ^ by).slt(0);
    (
        is_above.select(quotient - 1, quotient),
        is_above.select(remainder + by, remainder),
    )
}

/// `a ** n` by squaring. For negative `n` it is the inverse of a real, and 1 of an integer.
fn power<'b, 'c>(a: V<'b, 'c>, n: V<'b, 'c>, exponent: DType) -> V<'b, 'c> {
    let b = a.builder();
    let is_negative = match exponent.is_signed() {
        true => n.slt(0),
        false => b.bool(false),
    };
    let steps = match a.is_float() {
        true => is_negative.select(-n, n),
        false => is_negative.select(n.same(0), n),
    };
    let [power, _, _] = b.while_(
        [a.same(1), a, steps],
        |[_, _, left]| left.ne(0),
        |[power, square, left]| {
            let is_odd = (left & 1).ne(0);
            [
                is_odd.select(power * square, power),
                square * square,
                left >> 1,
            ]
        },
    );
    match a.is_float() {
        true => is_negative.select(a.same(1) / power, power),
        false => power,
    }
}

/// A value in another type.
pub fn converted<'b, 'c>(x: V<'b, 'c>, from: DType, to: DType) -> V<'b, 'c> {
    if from == to {
        return x;
    }
    let b = x.builder();
    let r#type = type_of(b, to);
    let by = |name: &str| b.result(name, &[x], r#type, &[]);
    match (from.is_real(), to.is_real()) {
        (_, false) if to == U1 => x.ne(0),
        (true, true) if from.bits() < to.bits() => by("arith.extf"),
        (true, true) => by("arith.truncf"),
        (false, true) if from.is_signed() => by("arith.sitofp"),
        (false, true) => by("arith.uitofp"),
        (true, false) => saturated(x, to),
        (false, false) if from.bits() > to.bits() => by("arith.trunci"),
        (false, false) if from.bits() == to.bits() => x,
        (false, false) if from.is_signed() => by("arith.extsi"),
        (false, false) => by("arith.extui"),
    }
}

/// A real as an integer: truncated and saturated, a NaN as 0.
fn saturated<'b, 'c>(x: V<'b, 'c>, to: DType) -> V<'b, 'c> {
    let b = x.builder();
    let r#type = type_of(b, to);
    let bits = to.bits();
    // Powers of 2, which reals are exactly. What is beyond is truncated to the bound itself.
    let (name, below, above) = match to.is_signed() {
        true => ("arith.fptosi", -(2f64.powi(bits as i32 - 1)), bits - 1),
        false => ("arith.fptoui", 0.0, bits),
    };
    let (is_low, is_high) = (x.le(below), x.ge(2f64.powi(above as i32)));
    // Beyond its range the conversion is undefined; a NaN is neither above nor below.
    let is_outside = is_low | is_high | x.ne(x);
    let inside = is_outside.select(x.same(0), x);
    let value = b.result(name, &[inside], r#type, &[]);
    let bound = |bits: u64| constant(b, to, bits);
    let (least, most) = match to.is_signed() {
        true => (1 << (bits - 1), (1 << (bits - 1)) - 1),
        false => (0, u64::MAX >> (64 - bits)),
    };
    is_low.select(bound(least), is_high.select(bound(most), value))
}

/// The bits of a value as another type of the same width.
pub fn bit_cast<'b, 'c>(x: V<'b, 'c>, to: DType) -> V<'b, 'c> {
    x.bitcast(type_of(x.builder(), to))
}
