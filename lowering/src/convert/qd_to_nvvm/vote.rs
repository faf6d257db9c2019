//! Votes, ballots, matches, and reductions of words.

use super::{
    WARP,
    shuffle::{case, everyone},
};
use qd_dialects::{
    attributes::{self, Kind},
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, bit_width},
    melior::ir::ValueLike,
};

/// An error unless the op works on the whole warp: a vote has no tiles.
fn whole_warp<'c>(op: Op<'c>) -> Result<'c> {
    match op.attr("tile").and_then(attributes::int) {
        Some(log2) if 1 << log2 != WARP => Err(Diagnostic::at(
            op,
            "works on tiles, which no vote and no reduction of this target does: \
             run qd-expand-collectives first",
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

/// `redux.sync`, in every lane: who asked for lane 0's alone has no use for the
/// others.
pub(super) fn reduce<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    whole_warp(op)?;
    let operands = b.vs(&op.operand_values());
    let kind = op.attr("kind").and_then(Kind::of).and_then(reduction);
    let (&[value], Some(kind)) = (&operands[..], kind) else {
        return Err(not_of_words(op));
    };
    if value.is_float() || bit_width(value.value().r#type()) != 32 {
        return Err(not_of_words(op));
    }
    let kind = case(b, "redux_kind", kind);
    let result = b.result(
        "nvvm.redux.sync",
        &[value, everyone(b)],
        value.ty(),
        &[("kind", kind)],
    );
    Ok(vec![result.value()])
}

fn not_of_words(op: Op<'_>) -> Diagnostic<'_> {
    Diagnostic::at(
        op,
        "is no reduction of an i32 that this target has: run qd-expand-collectives first",
    )
}

fn reduction(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Add => "add",
        Kind::MinSi => "min",
        Kind::MinUi => "umin",
        Kind::MaxSi => "max",
        Kind::MaxUi => "umax",
        Kind::And => "and",
        Kind::Or => "or",
        Kind::Xor => "xor",
        Kind::Mul | Kind::MinNumF | Kind::MaxNumF => return None,
    })
}
