//! Reductions, scans and moves within a subgroup, as shuffles.

use super::{
    Setting,
    fold::{Fold, doublings, rank, raw, select, shuffle},
};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, Value},
    ops::simt,
};

/// Neighbours first: after step `d`, every `2d`-th lane holds the combination of
/// `2d` lanes in order. The other lanes hold something else.
pub(super) fn reduce<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let fold = Fold::of(op);
    let mut values = fold.values(b, op);
    let lane = b.lane_id();
    for distance in doublings(setting.tile(op)) {
        let above = shuffle(b, "down", &values, b.i32(distance as i32));
        values = match fold.is_commutative() {
            true => fold.apply(b, &values, &above),
            // Lanes whose partner is beyond the tile do not take part.
            false => {
                let there = (lane & (2 * distance - 1)).eq(0);
                fold.apply_where(b, there, &values, &above, &values)
            }
        };
    }
    Ok(raw(&values))
}

/// A butterfly. Every lane is a partner at every step; the lower of two lanes
/// holds the left operand.
pub(super) fn reduce_all<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let fold = Fold::of(op);
    let mut values = fold.values(b, op);
    let lane = b.lane_id();
    for distance in doublings(setting.tile(op)) {
        let other = shuffle(b, "xor", &values, b.i32(distance as i32));
        values = match fold.is_commutative() {
            true => fold.apply(b, &values, &other),
            false => {
                let is_lower = (lane & distance).eq(0);
                let left = select(is_lower, &values, &other);
                let right = select(is_lower, &other, &values);
                fold.apply(b, &left, &right)
            }
        };
    }
    Ok(raw(&values))
}

/// Hillis–Steele.
pub(super) fn inclusive_scan<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let fold = Fold::of(op);
    let size = setting.tile(op);
    let rank = rank(b, size, setting.wave);
    Ok(raw(&bounded_scan(b, &fold, fold.values(b, op), size, rank)))
}

/// The inclusive scan of the values from `reach` lanes below on, which is at
/// most the lane's number in its tile of `size` lanes.
pub(super) fn bounded_scan<'b, 'c>(
    b: &'b Builder<'c>,
    fold: &Fold<'c>,
    mut values: Vec<V<'b, 'c>>,
    size: i64,
    reach: V<'b, 'c>,
) -> Vec<V<'b, 'c>> {
    for distance in doublings(size) {
        let below = shuffle(b, "up", &values, b.i32(distance as i32));
        values = fold.apply_where(b, reach.ge(distance), &below, &values, &values);
    }
    values
}

pub(super) fn exclusive_scan<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let fold = Fold::of(op);
    let size = setting.tile(op);
    if size == 1 {
        return Ok(raw(&fold.identity(b)));
    }
    let inclusive = fold.collective(b, "inclusive_scan", &fold.values(b, op), size);
    let below = shuffle(b, "up", &inclusive, b.i32(1));
    let first = rank(b, size, setting.wave).eq(0);
    Ok(raw(&select(first, &fold.identity(b), &below)))
}

pub(super) fn broadcast_first<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let value = b.v(simt::BroadcastFirst::cast(op).value());
    Ok(vec![broadcast(value, b.i32(0)).value()])
}

/// `qd.simt.broadcast`.
pub(super) fn broadcast<'b, 'c>(value: V<'b, 'c>, lane: V<'b, 'c>) -> V<'b, 'c> {
    value
        .builder()
        .result(simt::Broadcast::NAME, &[value, lane], value.ty(), &[])
}

/// The source lane, cyclic within the tile.
pub(super) fn rotate<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let rotate = simt::Rotate::cast(op);
    let (value, delta) = (b.v(rotate.value()), b.v(rotate.delta()));
    let size = setting.tile(op);
    let lane = b.lane_id();
    let within = (lane + delta) & (size - 1);
    let source = match size == setting.wave {
        true => within,
        false => (lane & -size) | within,
    };
    Ok(vec![b.shuffle("idx", value, source).value()])
}

pub(super) fn elect<'c>(b: &Builder<'c>, _: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![b.lane_id().eq(0).value()])
}
