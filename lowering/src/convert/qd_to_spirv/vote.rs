//! Votes and ballots.

use super::{
    Setting,
    identity::extract,
    types::{case, parse},
};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value},
    melior::ir::Type,
};

/// An error unless the op works on the whole subgroup.
pub(super) fn whole_subgroup<'c>(op: Op<'c>, setting: &Setting) -> Result<'c> {
    match op.attr("tile").and_then(attributes::int) {
        Some(log2) if 1 << log2 != setting.wave => Err(Diagnostic::at(
            op,
            "works on tiles, which no vote and no reduction of this target does: \
             run qd-expand-collectives first",
        )),
        _ => Ok(()),
    }
}

fn vote<'b, 'c>(name: &str, predicate: V<'b, 'c>, r#type: Type<'c>) -> V<'b, 'c> {
    let b = predicate.builder();
    b.result(
        &format!("spirv.GroupNonUniform{name}"),
        &[predicate],
        r#type,
        &[("execution_scope", case(b, "scope", "Subgroup"))],
    )
}

pub(super) fn all<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    whole_subgroup(op, setting)?;
    let predicate = b.v(op.operand_values()[0]);
    Ok(vec![vote("All", predicate, b.int_type(1)).value()])
}

pub(super) fn any<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    whole_subgroup(op, setting)?;
    let predicate = b.v(op.operand_values()[0]);
    Ok(vec![vote("Any", predicate, b.int_type(1)).value()])
}

/// The first word of four, and the second where there are lanes for it.
pub(super) fn ballot<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let predicate = b.v(op.operand_values()[0]);
    let words = vote("Ballot", predicate, parse(b, "vector<4xi32>"));
    let low = extract(words, 0).to_i64();
    let mask = match setting.wave {
        ..=32 => low,
        _ => low | (extract(words, 1).to_i64() << 32),
    };
    Ok(vec![mask.value()])
}
