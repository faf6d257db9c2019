//! Votes, ballots and matches.

use super::{
    WARP,
    shuffle::{case, everyone},
};
use qd_dialects::{
    attributes,
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value},
};

/// An error unless the op works on the whole warp: a vote has no tiles.
fn whole_warp<'c>(op: Op<'c>) -> Result<'c> {
    match op.attr("tile").and_then(attributes::int) {
        Some(log2) if 1 << log2 != WARP => Err(Diagnostic::at(
            op,
            "works on tiles, which no vote of this target does: \
             keep it as '@full' in qd-expand-collectives",
        )),
        _ => Ok(()),
    }
}

fn vote<'c>(b: &Builder<'c>, op: Op<'c>, kind: &str) -> Result<'c, Vec<Value<'c>>> {
    whole_warp(op)?;
    let predicate = b.v(op.operand_values()[0]);
    let kind = case(b, "vote_sync_kind", kind);
    let vote = b.result(
        "nvvm.vote.sync",
        &[everyone(b), predicate],
        b.int_type(1),
        &[("kind", kind)],
    );
    Ok(vec![vote.value()])
}

pub(super) fn all<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    vote(b, op, "all")
}

pub(super) fn any<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    vote(b, op, "any")
}

/// 32 lanes, zero-extended to the mask's 64.
pub(super) fn ballot<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let predicate = b.v(op.operand_values()[0]);
    let mask = b.result(
        "nvvm.vote.sync",
        &[everyone(b), predicate],
        b.int_type(32),
        &[("kind", case(b, "vote_sync_kind", "ballot"))],
    );
    Ok(vec![mask.to_i64().value()])
}

/// Words of 32 and of 64 bits are compared alike.
pub(super) fn match_any<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let value = b.v(op.operand_values()[0]);
    let peers = b.result(
        "nvvm.match.sync",
        &[everyone(b), value],
        b.int_type(32),
        &[("kind", case(b, "match_sync_kind", "any"))],
    );
    Ok(vec![peers.to_i64().value()])
}
