//! Classification of floats, clamps, and integer powers: conversions of `math`
//! that upstream's conversion to LLVM lacks.

use melior::ir::Type;
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, bit_width},
    melior,
};

/// The conversion of an op, at the builder's insertion point.
type Conversion = for<'c> fn(&Builder<'c>, Op<'c>) -> Result<'c, Vec<Value<'c>>>;

/// Every op that has a conversion here.
pub const CLASSES: &[(&str, Conversion)] = &[
    ("math.clampf", clampf),
    ("math.ipowi", ipowi),
    ("math.isinf", isinf),
    ("math.isnormal", isnormal),
];

/// A float constant of the value's type.
fn constant<'b, 'c>(like: V<'b, 'c>, value: f64) -> V<'b, 'c> {
    let (b, r#type): (_, Type<'c>) = (like.builder(), like.ty());
    b.constant(
        attributes::float_constant(b.context(), r#type, value),
        r#type,
    )
}

fn magnitude<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    x.builder().result("math.absf", &[x], x.ty(), &[])
}

/// `math.clampf`: a NaN stays one.
fn clampf<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    let x = operands[0];
    let raised = b.result("arith.maximumf", &[x, operands[1]], x.ty(), &[]);
    let clamped = b.result("arith.minimumf", &[raised, operands[2]], x.ty(), &[]);
    Ok(vec![clamped.value()])
}

/// `math.isinf`.
fn isinf<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let x = magnitude(b.v(op.operand_values()[0]));
    Ok(vec![x.eq(constant(x, f64::INFINITY)).value()])
}

/// `math.isnormal`: neither zero nor denormal nor infinite nor NaN.
fn isnormal<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let x = magnitude(b.v(op.operand_values()[0]));
    let smallest = match bit_width(x.ty()) {
        64 => f64::MIN_POSITIVE,
        32 => f32::MIN_POSITIVE.into(),
        width => {
            return Err(Diagnostic::at(
                op,
                format!("is not known for floats of {width} bits"),
            ));
        }
    };
    let large_enough = x.ge(constant(x, smallest));
    Ok(vec![
        (large_enough & x.lt(constant(x, f64::INFINITY))).value(),
    ])
}

/// `math.ipowi`.
fn ipowi<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let x = b.vs(&op.operand_values());
    Ok(vec![power(x[0], x[1]).value()])
}

/// By squaring. Of a negative power only those of 1 and −1 are whole; of 0 there
/// is none.
pub fn power<'b, 'c>(base: V<'b, 'c>, exponent: V<'b, 'c>) -> V<'b, 'c> {
    let b = base.builder();
    let negative = exponent.slt(0);
    let left = negative.select(exponent.same(0), exponent);
    let [product, _, _] = b.while_(
        [base.same(1), base, left],
        |[_, _, left]| left.ne(0),
        |[product, base, left]| {
            let next = (left & 1).ne(0).select(product * base, product);
            [next, base * base, left >> 1]
        },
    );
    let odd = (exponent & 1).ne(0);
    let of_minus_one = odd.select(base.same(-1), base.same(1));
    let inverse = base.eq(-1).select(of_minus_one, base.same(0));
    let inverse = base.eq(1).select(base, inverse);
    negative.select(inverse, product)
}
