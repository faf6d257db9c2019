//! What each collective does with the lanes that are added to a subgroup.

use super::{Filling, choose};
use qd_dialects::{
    attributes::{self, Kind},
    builder::{Builder, Combiner, V},
    diagnostic::{Diagnostic, Result},
    interfaces::{Collective, ResultUniformity},
    ir::{Op, OpExt, ValueExt, bit_width},
    melior::ir::{Attribute, TypeLike},
    ops::{ShuffleMode, simt},
};

/// How an op is changed, given what is known of the body.
type Filled = for<'c> fn(&Filling<'c>, &Builder<'c>, Op<'c>);

/// Every collective, and how the lanes that are added leave it to the others.
const COLLECTIVES: &[(&str, Filled)] = &[
    (simt::Shuffle::NAME, shuffle),
    (simt::Broadcast::NAME, broadcast),
    (simt::BroadcastFirst::NAME, nothing),
    (simt::Rotate::NAME, rotate),
    (simt::Sync::NAME, nothing),
    (simt::All::NAME, all),
    (simt::Any::NAME, predicate),
    (simt::AllEqual::NAME, all_equal),
    (simt::Ballot::NAME, predicate),
    (simt::BallotFirstN::NAME, predicate),
    (simt::CountTrue::NAME, predicate),
    (simt::MatchAny::NAME, present),
    (simt::MatchAll::NAME, match_all),
    (simt::ActiveMask::NAME, present),
    (simt::Reduce::NAME, combine),
    (simt::ReduceAll::NAME, combine),
    (simt::InclusiveScan::NAME, combine),
    (simt::ExclusiveScan::NAME, combine),
    (simt::SegmentedReduce::NAME, combine),
    (simt::BitonicSortKv::NAME, sort),
    (simt::BlockSync::NAME, nothing),
    (simt::BlockReduce::NAME, combine),
    (simt::BlockReduceAll::NAME, combine),
    (simt::BlockInclusiveScan::NAME, combine),
    (simt::BlockExclusiveScan::NAME, combine),
    (simt::BlockRadixRank::NAME, radix_rank),
];

/// Changes a collective of a body.
pub(super) fn fill<'c>(
    filling: &mut Filling<'c>,
    op: Op<'c>,
    collective: Collective<'c>,
) -> Result<'c> {
    let known = COLLECTIVES.iter().find(|(name, _)| op.is(name));
    let Some((_, filled)) = known else {
        let message = "is not known in a block of which a subgroup is filled in part";
        return Err(Diagnostic::at(op, message));
    };
    let tile = collective.log2_cluster_size;
    let whole = tile.is_none_or(|log2| Some(1 << log2) == filling.wave);
    let reads_a_lane = collective.source_lane.is_some();
    if collective.result_uniformity == ResultUniformity::Uniform && whole && !reads_a_lane {
        let results = op.result_values();
        filling
            .common
            .extend(results.iter().map(|value| value.key()));
    }
    filled(filling, &Builder::before(op), op);
    Ok(())
}

/// The value of the subgroup's lane 0, of any scalar type.
pub(super) fn of_lane_0<'b, 'c>(
    value: V<'b, 'c>,
    attributes: &[(&str, Attribute<'c>)],
) -> V<'b, 'c> {
    let b = value.builder();
    let name = simt::BroadcastFirst::NAME;
    let first = |value: V<'b, 'c>| b.result(name, &[value], value.ty(), attributes);
    let r#type = value.ty();
    if r#type.is_index() {
        return first(value.to_i64()).to_index();
    }
    match bit_width(r#type) {
        1 => first(value.to_i32()).ne(0),
        8 | 16 if !value.is_float() => first(value.to_i32()).cast(r#type),
        _ => first(value),
    }
}

fn nothing<'c>(_: &Filling<'c>, _: &Builder<'c>, _: Op<'c>) {}

/// Added lanes bring what changes no combination.
fn combine<'c>(filling: &Filling<'c>, b: &Builder<'c>, op: Op<'c>) {
    let there = b.v(filling.there);
    let combiner = Combiner::of_simt(op);
    let adds = combiner.as_kind() == Some(Kind::Add);
    for (operand, neutral) in combiner.neutral(b).into_iter().enumerate() {
        let value = b.v(op.operand_values()[operand]);
        // With +0, the sum of −0 would be +0.
        let neutral = match adds && value.is_float() {
            true => b.float(value.ty(), -0.0),
            false => neutral,
        };
        op.set_operand_at(operand, choose(there, value, neutral));
    }
}

/// Of added lanes no predicate holds.
fn predicate<'c>(filling: &Filling<'c>, b: &Builder<'c>, op: Op<'c>) {
    let holds = b.v(op.operand_values()[0]);
    op.set_operand_at(0, (holds & b.v(filling.there)).value());
}

/// Of added lanes every predicate holds.
fn all<'c>(filling: &Filling<'c>, b: &Builder<'c>, op: Op<'c>) {
    let holds = b.v(op.operand_values()[0]);
    op.set_operand_at(0, (holds | !b.v(filling.there)).value());
}

/// Added lanes equal the first of their cluster.
fn all_equal<'c>(filling: &Filling<'c>, b: &Builder<'c>, op: Op<'c>) {
    let value = b.v(op.operand_values()[0]);
    let size = cluster(filling, op);
    let first = match size.filter(|_| size != filling.wave) {
        None => of_lane_0(value, &[]),
        Some(size) => b.shuffle("idx", value, b.lane_id() & -size),
    };
    op.set_operand_at(0, choose(b.v(filling.there), value, first));
}

/// Added lanes are in no mask.
fn present<'c>(filling: &Filling<'c>, b: &Builder<'c>, op: Op<'c>) {
    let there = b.ballot(b.v(filling.there));
    after(op, |b, mask| mask & b.v(there.value()));
}

fn match_all<'c>(filling: &Filling<'c>, b: &Builder<'c>, op: Op<'c>) {
    all_equal(filling, b, op);
    present(filling, b, op);
}

/// The largest pairs, which come last.
fn sort<'c>(filling: &Filling<'c>, b: &Builder<'c>, op: Op<'c>) {
    let there = b.v(filling.there);
    for (operand, unsigned) in ["unsigned_key", "unsigned_value"].into_iter().enumerate() {
        let value = b.v(op.operand_values()[operand]);
        let largest = i64::MAX >> (64 - bit_width(value.ty()));
        let largest = match (value.is_float(), op.attr(unsigned).is_some()) {
            // A NaN.
            (true, _) => {
                let bits = b.int_type(bit_width(value.ty()));
                b.int(bits, largest).bitcast(value.ty())
            }
            (false, true) => b.int(value.ty(), -1),
            (false, false) => b.int(value.ty(), largest),
        };
        op.set_operand_at(operand, choose(there, value, largest));
    }
}

fn shuffle<'c>(filling: &Filling<'c>, b: &Builder<'c>, op: Op<'c>) {
    let shuffle = simt::Shuffle::cast(op);
    if shuffle.in_range() {
        return;
    }
    let by = b.v(shuffle.lane());
    let source = match shuffle.mode() {
        ShuffleMode::Idx => by,
        // Never an added lane.
        ShuffleMode::Up => return,
        ShuffleMode::Down => b.lane_id() + by,
        ShuffleMode::Xor => b.lane_id() ^ by,
    };
    own_where_absent(filling, op, source);
}

fn broadcast<'c>(filling: &Filling<'c>, b: &Builder<'c>, op: Op<'c>) {
    own_where_absent(filling, op, b.v(simt::Broadcast::cast(op).lane()));
}

fn rotate<'c>(filling: &Filling<'c>, b: &Builder<'c>, op: Op<'c>) {
    let delta = b.v(simt::Rotate::cast(op).delta());
    let source = match cluster(filling, op) {
        Some(size) => {
            let last = size - 1;
            let lane = b.lane_id();
            let place = (lane + delta) & last;
            (lane & !last) + place
        }
        None => (b.lane_id() + delta) & (b.subgroup_size() - 1),
    };
    own_where_absent(filling, op, source);
}

/// Only threads that are there are ranked.
fn radix_rank<'c>(filling: &Filling<'c>, b: &Builder<'c>, op: Op<'c>) {
    let rank = simt::BlockRadixRank::cast(op);
    let there = b.v(filling.there);
    let valid = rank.valid().map_or(there, |valid| b.v(valid) & there);
    let [digit, histogram, prefix] =
        [rank.digit(), rank.histogram(), rank.prefix()].map(|value| b.v(value));
    let ranked = b.radix_rank(digit, histogram, prefix, valid, rank.radix_bits() as i32);
    op.replace_with(&[ranked.value()]);
}

/// A lane that would read one that is added keeps its own value.
fn own_where_absent<'c>(filling: &Filling<'c>, op: Op<'c>, source: V<'_, 'c>) {
    let own = op.operand_values()[0];
    let source = source.value();
    after(op, |b, read| {
        b.v(source).lt(b.v(filling.present)).select(read, b.v(own))
    });
}

/// Replaces the only result of an op by what is computed of it behind the op.
fn after<'c>(op: Op<'c>, compute: impl for<'b> FnOnce(&'b Builder<'c>, V<'b, 'c>) -> V<'b, 'c>) {
    let result = op.first_result();
    let uses = result.uses();
    let Some(next) = op.next_in_block() else {
        return;
    };
    let b = Builder::before(next);
    b.set_location(op.location());
    let computed = compute(&b, b.v(result)).value();
    for (user, operand) in uses {
        user.set_operand_at(operand, computed);
    }
}

/// Lanes of the clusters that an op works on; none if these are subgroups whose size has not been chosen.
fn cluster(filling: &Filling, op: Op) -> Option<i64> {
    match op.attr("tile").and_then(attributes::int) {
        Some(log2) => Some(1 << log2),
        None => filling.wave,
    }
}
