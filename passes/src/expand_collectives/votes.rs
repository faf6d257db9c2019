//! Votes and masks, from ballots.

use super::{Setting, subgroup::broadcast};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, OpExt, Value, bit_width},
    ops::simt,
};

/// No lane's predicate fails.
pub(super) fn all<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let fails = !b.v(simt::Vote::cast(op).predicate());
    Ok(vec![
        ballot_of_tile(fails, setting.tile(op), setting.wave)
            .eq(0)
            .value(),
    ])
}

/// Some lane's predicate holds.
pub(super) fn any<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let holds = b.v(simt::Vote::cast(op).predicate());
    Ok(vec![
        ballot_of_tile(holds, setting.tile(op), setting.wave)
            .ne(0)
            .value(),
    ])
}

/// How many lanes' predicates hold.
pub(super) fn count_true<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let holds = b.v(simt::CountTrue::cast(op).predicate());
    let mask = ballot_of_tile(holds, setting.tile(op), setting.wave);
    Ok(vec![b.popcnt(mask).value()])
}

/// The lanes of this lane's tile whose predicate holds; other bits are zero.
fn ballot_of_tile<'b, 'c>(predicate: V<'b, 'c>, size: i64, wave: i64) -> V<'b, 'c> {
    let b = predicate.builder();
    let mask = b.ballot(predicate);
    if size == wave {
        return mask;
    }
    let first = (b.lane_id() & -size).to_i64();
    (mask >> first) & ((1 << size) - 1)
}

/// Every lane equals its tile's first.
pub(super) fn all_equal<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let value = b.v(simt::AllEqual::cast(op).value());
    let size = setting.tile(op);
    let first = match size == setting.wave {
        true => broadcast(value, b.i32(0)),
        false => b.shuffle("idx", value, b.lane_id() & -size),
    };
    let tile = attributes::i32(b.context(), size.trailing_zeros() as i32);
    let all = b.result(
        simt::All::NAME,
        &[value.eq(first)],
        b.int_type(1),
        &[("tile", tile)],
    );
    Ok(vec![all.value()])
}

pub(super) fn ballot_first_n<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let ballot = simt::BallotFirstN::cast(op);
    let mask = b.ballot(b.v(ballot.predicate())).to_i32();
    let first = match ballot.n() {
        32 => mask,
        n => mask & ((1 << n) - 1),
    };
    Ok(vec![first.value()])
}

/// One ballot for each bit: the peers agree in all of them.
pub(super) fn match_any<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let value = b.v(simt::MatchAny::cast(op).value());
    let bits = op.attr("bits").and_then(attributes::int);
    let bits = bits.map_or(bit_width(value.ty()), |bits| bits as u32);
    Ok(vec![peers(value, bits, everyone(b, setting)).value()])
}

/// All lanes, if each equals the first.
pub(super) fn match_all<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let value = b.v(simt::MatchAll::cast(op).value());
    let differs = value.ne(broadcast(value, b.i32(0)));
    let is_same = b.ballot(differs).eq(0);
    Ok(vec![is_same.select(everyone(b, setting), b.i64(0)).value()])
}

/// There all subgroups are full: those that were not have been filled.
pub(super) fn active_mask<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![everyone(b, setting).value()])
}

/// A mask of all lanes.
fn everyone<'b, 'c>(b: &'b Builder<'c>, setting: &Setting) -> V<'b, 'c> {
    b.i64((u64::MAX >> (64 - setting.wave)) as i64)
}

/// Those of `among` whose lowest `bits` bits are this lane's.
fn peers<'b, 'c>(value: V<'b, 'c>, bits: u32, among: V<'b, 'c>) -> V<'b, 'c> {
    let b = value.builder();
    (0..i64::from(bits)).fold(among, |peers, bit| {
        // The sign bit as a negative number, as its type has it.
        let unused = 64 - bit_width(value.ty());
        let mask = (1i64 << bit) << unused >> unused;
        let is_set = (value & value.same(mask)).ne(0);
        let set = b.ballot(is_set);
        peers & is_set.select(set, !set)
    })
}
