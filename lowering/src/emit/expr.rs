//! Host arithmetic as expressions.

use crate::convert::descriptor;
use melior::ir::ValueLike;
use qd_artifact::{Comparison, Expr, Operation};
use qd_dialects::{
    attributes,
    diagnostic::{Diagnostic, Result},
    ir::{self, Op, OpExt, Value, ValueExt},
    melior,
    ops::grid,
};

/// An op that a launch plan has no place for.
pub fn unsupported<'c>(op: Op<'c>) -> Diagnostic<'c> {
    Diagnostic::at(
        op,
        "cannot be part of a launch plan: it belongs to an earlier level",
    )
}

/// The arithmetic behind a value at a kernel's top level. `user` is whom errors
/// are about.
pub fn host_value<'c>(kernel: Op<'c>, user: Op<'c>, value: Value<'c>) -> Result<'c, Expr> {
    if let Some((block, argument)) = value.block_argument() {
        if kernel.body() == Some(block) {
            return Ok(Expr::Scalar(argument));
        }
        return Err(unsupported(user));
    }
    let op = value.defining_op().ok_or_else(|| unsupported(user))?;
    let operands = op.operand_values();
    let width = |value: &Value<'c>| ir::bit_width(value.r#type());
    let operand = |i: usize| host_value(kernel, user, operands[i]);
    let name = op.full_name();
    if let Some(operation) = operation(name) {
        return Ok(Expr::Binary {
            operation,
            width: width(&operands[0]),
            left: operand(0)?.into(),
            right: operand(1)?.into(),
        });
    }
    match name {
        _ if ir::is_constant(op) => constant(op).ok_or_else(|| cannot_evaluate(user, op)),
        "memref.dim" => length(kernel, user, operands[0], operands[1]),
        "memref.extract_aligned_pointer_as_index" => match operands[0].block_argument() {
            Some((block, argument)) if kernel.body() == Some(block) => Ok(Expr::Address(argument)),
            _ => Err(cannot_evaluate(user, op)),
        },
        "arith.cmpi" => Ok(Expr::Compare {
            comparison: comparison(op).ok_or_else(|| cannot_evaluate(user, op))?,
            width: width(&operands[0]),
            left: operand(0)?.into(),
            right: operand(1)?.into(),
        }),
        "arith.select" => Ok(Expr::Select {
            condition: operand(0)?.into(),
            then: operand(1)?.into(),
            otherwise: operand(2)?.into(),
        }),
        "arith.index_castui" | "arith.extui" | "arith.trunci" | "arith.index_cast"
        | "arith.extsi" => {
            let signed = matches!(name, "arith.index_cast" | "arith.extsi");
            let narrowest = width(&operands[0]).min(width(&value));
            Ok(Expr::Resize {
                to: narrowest,
                signed,
                value: operand(0)?.into(),
            })
        }
        "arith.bitcast" => operand(0),
        _ => Err(cannot_evaluate(user, op)),
    }
}

fn cannot_evaluate<'c>(user: Op<'c>, op: Op<'c>) -> Diagnostic<'c> {
    Diagnostic::at(
        user,
        format!(
            "needs '{}' on the host, which a launch plan cannot evaluate",
            op.full_name()
        ),
    )
    .note(op.location(), "computed here")
}

/// A constant's bits, zero-extended from its width.
fn constant(op: Op<'_>) -> Option<Expr> {
    let value = op.attr("value")?;
    let width = ir::bit_width(op.first_result().r#type());
    let bits = match attributes::int(value) {
        Some(int) => int as u64,
        None => match (attributes::float(value)?, width) {
            (float, 32) => u64::from((float as f32).to_bits()),
            (float, 64) => float.to_bits(),
            _ => return None,
        },
    };
    Some(Expr::constant(if width < 64 {
        bits & ((1 << width) - 1)
    } else {
        bits
    }))
}

fn length<'c>(
    kernel: Op<'c>,
    user: Op<'c>,
    buffer: Value<'c>,
    dimension: Value<'c>,
) -> Result<'c, Expr> {
    let at = dimension.constant_int().ok_or_else(|| unsupported(user))?;
    if let Some(Some(extent)) =
        descriptor::shape(buffer.r#type()).and_then(|s| s.get(at as usize).copied())
    {
        return Ok(Expr::constant(extent as u64));
    }
    match (buffer.block_argument(), buffer.defining_op()) {
        (Some((_, argument)), _) => Ok(Expr::Length(argument, at as usize)),
        (_, Some(op)) if op.is(grid::View::NAME) => {
            let size = grid::View::cast(op).size();
            host_value(kernel, user, size.ok_or_else(|| unsupported(user))?)
        }
        (_, Some(op)) if op.is("memref.cast") => {
            length(kernel, user, op.operand_values()[0], dimension)
        }
        (_, Some(op)) => Err(cannot_evaluate(user, op)),
        _ => Err(unsupported(user)),
    }
}

fn operation(name: &str) -> Option<Operation> {
    Some(match name.strip_prefix("arith.")? {
        "addi" => Operation::Add,
        "subi" => Operation::Sub,
        "muli" => Operation::Mul,
        "divui" => Operation::DivUnsigned,
        "divsi" => Operation::DivSigned,
        "remui" => Operation::RemUnsigned,
        "remsi" => Operation::RemSigned,
        "ceildivui" => Operation::CeilDivUnsigned,
        "ceildivsi" => Operation::CeilDivSigned,
        "floordivsi" => Operation::FloorDivSigned,
        "minui" => Operation::MinUnsigned,
        "maxui" => Operation::MaxUnsigned,
        "minsi" => Operation::MinSigned,
        "maxsi" => Operation::MaxSigned,
        "andi" => Operation::And,
        "ori" => Operation::Or,
        "xori" => Operation::Xor,
        "shli" => Operation::ShiftLeft,
        "shrui" => Operation::ShiftRightUnsigned,
        "shrsi" => Operation::ShiftRightSigned,
        _ => return None,
    })
}

fn comparison(op: Op<'_>) -> Option<Comparison> {
    use Comparison::*;
    let all = [
        Eq, Ne, LtSigned, LeSigned, GtSigned, GeSigned, LtUnsigned, LeUnsigned, GtUnsigned,
        GeUnsigned,
    ];
    let at = attributes::int(op.attr("predicate")?)?;
    all.get(usize::try_from(at).ok()?).copied()
}
