//! Segmented reductions: a scan that reaches back to the last head.

use super::{
    Setting,
    fold::{Fold, raw},
    subgroup::bounded_scan,
};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, Value},
    ops::simt,
};

/// One ballot tells every lane where the heads are; the distance to the last
/// one bounds a scan, so that no partner of another segment is combined with.
pub(super) fn segmented_reduce<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let fold = Fold::of(op);
    let values = fold.values(b, op);
    let head = b.v(simt::SegmentedReduce::cast(op).head());
    let size = setting.tile(op);
    let distance = match size {
        64 => distance_in_64(b, head),
        _ => distance_in_32(b, head, size, setting.wave),
    };
    Ok(raw(&bounded_scan(b, &fold, values, size, distance)))
}

/// Within tiles of up to 32 lanes, in the half of the subgroup they are in.
fn distance_in_32<'b, 'c>(b: &'b Builder<'c>, head: V<'b, 'c>, size: i64, wave: i64) -> V<'b, 'c> {
    let heads = b.ballot(head);
    let (heads, lane) = match wave {
        64 => {
            let lane = b.lane_id();
            let half = (lane & 32).to_i64();
            ((heads >> half).to_i32(), lane & 31)
        }
        _ => (heads.to_i32(), b.lane_id()),
    };
    // The first lane of the tile is a head, whatever it says; heads of tiles
    // below are below it.
    let first = match size < wave.min(32) {
        true => b.i32(1) << (lane & -size),
        false => b.i32(1),
    };
    let upto = lanemask_le(lane, 32);
    let last = b.i32(31) - b.clz((heads & upto) | first);
    lane - last
}

fn distance_in_64<'b, 'c>(b: &'b Builder<'c>, head: V<'b, 'c>) -> V<'b, 'c> {
    let lane = b.lane_id();
    let heads = (b.ballot(head) & lanemask_le(lane, 64)) | 1;
    lane - (b.i32(63) - b.clz(heads))
}

/// The lanes up to `lane`.
fn lanemask_le<'b, 'c>(lane: V<'b, 'c>, width: u32) -> V<'b, 'c> {
    let b = lane.builder();
    let relation = qd_dialects::attributes::case(b.context(), "lane_relation", "le");
    b.result(
        simt::Lanemask::NAME,
        &[lane],
        b.int_type(width),
        &[("relation", relation)],
    )
}
