//! Reductions and scans of an integer, whose order does not matter.

use super::{
    Setting,
    types::{self, case},
};
use qd_dialects::{
    attributes::{self, Kind},
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value},
    ops::simt,
};

/// The result is in every lane, also where only lane 0's is required.
pub(super) fn reduce<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    combine(b, op, "Reduce", None)
}

/// Of each cluster, in all its lanes.
pub(super) fn clustered_reduce<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let log2 = op.attr("tile").and_then(attributes::int);
    let lanes = log2.map_or(setting.wave, |log2| 1 << log2);
    combine(b, op, "ClusteredReduce", Some(lanes as i32))
}

pub(super) fn inclusive_scan<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    combine(b, op, "InclusiveScan", None)
}

/// The identities of SPIR-V are those of the kinds.
pub(super) fn exclusive_scan<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    combine(b, op, "ExclusiveScan", None)
}

fn combine<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    operation: &str,
    cluster_size: Option<i32>,
) -> Result<'c, Vec<Value<'c>>> {
    let combine = simt::SubgroupCombine::cast(op);
    let value = b.v(combine.values()[0]);
    let kind = combine.kind().and_then(instruction);
    let kind = kind.ok_or_else(|| Diagnostic::at(op, "has a kind that SPIR-V lacks"))?;
    let operands: Vec<_> = [value]
        .into_iter()
        .chain(cluster_size.map(|lanes| types::constant(b, lanes)))
        .collect();
    let result = b.result(
        &format!("spirv.GroupNonUniform{kind}"),
        &operands,
        value.ty(),
        &[
            ("execution_scope", case(b, "scope", "Subgroup")),
            ("group_operation", case(b, "group_operation", operation)),
        ],
    );
    Ok(vec![result.value()])
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
