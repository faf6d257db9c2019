//! Votes and ballots.

use super::{
    Setting,
    thread_ids::extract,
    types::{case, parse},
};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, Value},
    melior::ir::Type,
    ops::simt,
};

fn vote<'b, 'c>(name: &str, predicate: V<'b, 'c>, r#type: Type<'c>) -> V<'b, 'c> {
    let b = predicate.builder();
    b.result(
        &format!("spirv.GroupNonUniform{name}"),
        &[predicate],
        r#type,
        &[("execution_scope", case(b, "scope", "Subgroup"))],
    )
}

pub(super) fn all<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    let predicate = b.v(simt::Vote::cast(op).predicate());
    Ok(vec![vote("All", predicate, b.int_type(1)).value()])
}

pub(super) fn any<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    let predicate = b.v(simt::Vote::cast(op).predicate());
    Ok(vec![vote("Any", predicate, b.int_type(1)).value()])
}

/// The first word of four, and the second where there are lanes for it.
pub(super) fn ballot<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let predicate = b.v(simt::Ballot::cast(op).predicate());
    let words = vote("Ballot", predicate, parse(b, "vector<4xi32>"));
    let low = extract(words, 0).to_i64();
    let mask = match setting.wave {
        ..=32 => low,
        _ => low | (extract(words, 1).to_i64() << 32),
    };
    Ok(vec![mask.value()])
}
