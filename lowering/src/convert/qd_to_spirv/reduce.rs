//! Reductions and scans of an integer, whose order does not matter.

use super::{Setting, types::case, vote::whole_subgroup};
use qd_dialects::{
    attributes::Kind,
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value},
    melior::ir::{TypeLike, ValueLike},
};

/// In every lane: who asked for lane 0's alone has no use for the others.
pub(super) fn reduce<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    combine(b, op, setting, "Reduce")
}

pub(super) fn inclusive_scan<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    combine(b, op, setting, "InclusiveScan")
}

/// The identities of SPIR-V are those of the kinds.
pub(super) fn exclusive_scan<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    combine(b, op, setting, "ExclusiveScan")
}

fn combine<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
    operation: &str,
) -> Result<'c, Vec<Value<'c>>> {
    whole_subgroup(op, setting)?;
    let operands = b.vs(&op.operand_values());
    let kind = op.attr("kind").and_then(Kind::of).and_then(instruction);
    let (&[value], Some(kind)) = (&operands[..], kind) else {
        return Err(not_of_integers(op));
    };
    if !value.value().r#type().is_integer() {
        return Err(not_of_integers(op));
    }
    let result = b.result(
        &format!("spirv.GroupNonUniform{kind}"),
        &[value],
        value.ty(),
        &[
            ("execution_scope", case(b, "scope", "Subgroup")),
            ("group_operation", case(b, "group_operation", operation)),
        ],
    );
    Ok(vec![result.value()])
}

fn not_of_integers(op: Op<'_>) -> Diagnostic<'_> {
    Diagnostic::at(
        op,
        "combines something else than an integer by a kind, which is all that this target does: \
         run qd-expand-collectives first",
    )
}

fn instruction(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Add => "IAdd",
        Kind::Mul => "IMul",
        Kind::MinSi => "SMin",
        Kind::MinUi => "UMin",
        Kind::MaxSi => "SMax",
        Kind::MaxUi => "UMax",
        Kind::And => "BitwiseAnd",
        Kind::Or => "BitwiseOr",
        Kind::Xor => "BitwiseXor",
        Kind::MinNumF | Kind::MaxNumF => return None,
    })
}
