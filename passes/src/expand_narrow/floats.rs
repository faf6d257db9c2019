//! Arithmetic on `f16` and `bf16`, as that on `f32`.
//!
//! A sum, difference, product, quotient or square root that is rounded to `f32` and then to a half
//! is what it is rounded to a half at once: `f32` has more than twice the digits.

use super::{
    collectives::constant_bits,
    halves::{narrow, of_integer, to_odd, widen},
    is_half,
};
use crate::expand_prints::PRINT;
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, OpExt, Value, bit_width},
    melior::ir::{Type, TypeLike, ValueLike},
};

/// Expands an op that computes with or yields a half.
pub(super) fn expand<'c>(op: Op<'c>) -> Result<'c> {
    if op.is(PRINT) {
        print_wide(op);
        return Ok(());
    }
    let name = op.full_name();
    let is_known = name.starts_with("arith.") || name.starts_with("math.");
    let (operands, results) = (op.operand_values(), op.result_values());
    let half = |values: &[Value<'c>]| values.iter().map(|v| v.r#type()).find(|t| is_half(*t));
    let (taken, yielded) = (half(&operands), half(&results));
    let Some(half) = taken.or(yielded).filter(|_| is_known) else {
        return Ok(());
    };
    let b = &Builder::before(op);
    let x = b.vs(&operands);
    let to_half = |value: V<'_, 'c>| narrow(value, half).bitcast(half).value();
    let new = match name {
        "arith.bitcast" | "arith.select" => return Ok(()),
        "arith.constant" => {
            let value = op.attr("value").expect("a constant");
            let value = constant_bits(value, half);
            b.int(b.int_type(16), value).bitcast(half).value()
        }
        "arith.extf" => {
            let wide = widen(bits(x[0]), half);
            let to = results[0].r#type();
            match bit_width(to) {
                32 => wide.value(),
                _ => b.result("arith.extf", &[wide], to, &[]).value(),
            }
        }
        "arith.truncf" if bit_width(x[0].ty()) == 64 => to_half(to_odd(x[0])),
        "arith.truncf" => to_half(x[0]),
        "arith.sitofp" => to_half(of_integer(x[0], true)),
        "arith.uitofp" => to_half(of_integer(x[0], false)),
        "arith.negf" => (bits(x[0]) ^ 0x8000).bitcast(half).value(),
        "math.absf" => (bits(x[0]) & 0x7FFF).bitcast(half).value(),
        "math.copysign" => {
            let sign = bits(x[1]) & 0x8000;
            ((bits(x[0]) & 0x7FFF) | sign).bitcast(half).value()
        }
        "math.isnormal" => is_normal(bits(x[0]), half).value(),
        _ => {
            let wide = b.insert(op.detached_clone());
            b.at(qd_dialects::ir::InsertionPoint::Before(wide), || {
                for (i, operand) in x.iter().enumerate() {
                    if is_half(operand.ty()) {
                        wide.set_operand_at(i, widen(bits(*operand), half).value());
                    }
                }
            });
            let result = wide.first_result();
            match is_half(result.r#type()) {
                true => {
                    result.set_type(b.f32_type());
                    to_half(b.v(result))
                }
                false => result,
            }
        }
    };
    op.replace_with(&[new]);
    Ok(())
}

/// Has halves printed as the `f32` that they are.
fn print_wide(op: Op<'_>) {
    let b = &Builder::before(op);
    for (at, value) in b.vs(&op.operand_values()).into_iter().enumerate() {
        if is_half(value.ty()) {
            op.set_operand_at(at, widen(bits(value), value.ty()).value());
        }
    }
}

/// Its bits, as `i16`.
fn bits<'b, 'c>(half: V<'b, 'c>) -> V<'b, 'c> {
    half.bitcast(half.builder().int_type(16))
}

/// Whether the exponent is neither the least nor that of infinities.
fn is_normal<'b, 'c>(bits: V<'b, 'c>, half: Type<'c>) -> V<'b, 'c> {
    let infinity = if half.is_bf16() { 0x7F80 } else { 0x7C00 };
    let exponent = bits & infinity;
    exponent.ne(0) & exponent.ne(infinity)
}
