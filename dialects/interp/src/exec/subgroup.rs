//! Subgroup collectives. All lanes that are there are active.

use super::{
    combine::{Tuples, combine_group},
    lanes::{Lanes, bits},
};
use crate::{
    algorithms::ordered_bits,
    fault::{Outcome, Trap},
    program::{Reg, ShuffleMode, SubgroupOp},
    race::BlockClock,
};
use std::ops::Range;

pub(crate) fn subgroup_op(
    op: &SubgroupOp,
    lanes: &mut Lanes,
    clock: &mut BlockClock,
    subgroup: usize,
) -> Outcome {
    let width = lanes.width;
    match op {
        SubgroupOp::Sync => clock.sync_subgroup(subgroup),
        SubgroupOp::Shuffle {
            mode,
            dst,
            value,
            lane,
            in_range,
        } => {
            lanes.need(*lane, "the lane it reads")?;
            let from = |at: usize| {
                let by = lanes.get(*lane, at) as usize;
                let source = match mode {
                    ShuffleMode::Idx => Some(by),
                    ShuffleMode::Up => at.checked_sub(by),
                    ShuffleMode::Down => at.checked_add(by),
                    ShuffleMode::Xor => Some(at ^ by),
                };
                let keeps_own = matches!(mode, ShuffleMode::Up | ShuffleMode::Down) && !in_range;
                let own = keeps_own.then_some(at);
                let there = if *in_range { lanes.present() } else { width };
                source.filter(|&source| source < there).or(own)
            };
            let sources: Vec<_> = (0..width).map(from).collect();
            gather(lanes, *dst, *value, |lane| sources[lane]);
        }
        SubgroupOp::Broadcast { dst, value, lane } => {
            let source = uniform(lanes, *lane, "the lane it reads")? as usize;
            gather(lanes, *dst, *value, |_| {
                Some(source).filter(|&source| source < width)
            });
        }
        SubgroupOp::BroadcastFirst { dst, value } => gather(lanes, *dst, *value, |_| Some(0)),
        SubgroupOp::Rotate {
            dst,
            value,
            delta,
            tile,
        } => {
            // Sizes are powers of two: a negative distance wraps to the same lane.
            let by = uniform(lanes, *delta, "the distance it rotates by")? as usize;
            let size = size(*tile, width);
            gather(lanes, *dst, *value, |lane| {
                let base = lane - lane % size;
                Some(base + (lane - base + by) % size)
            });
        }
        SubgroupOp::Vote {
            vote,
            dst,
            predicate,
            tile,
        } => {
            lanes.need(*predicate, "a predicate")?;
            let holding = lanes.holding(*predicate);
            each_tile(lanes, *tile, *dst, |tile| vote(holding, tile));
        }
        SubgroupOp::AllEqual {
            dst,
            value,
            element,
            tile,
        } => {
            lanes.need(*value, "the value it compares")?;
            let values = lanes.values(*value).to_vec();
            let equal = |x: u64, y: u64| {
                if element.is_float() {
                    element.float(x) == element.float(y)
                } else {
                    x == y
                }
            };
            each_tile(lanes, *tile, *dst, |tile| {
                let first = values[tile.trailing_zeros() as usize];
                bits(tile).all(|lane| equal(first, values[lane])) as u64
            });
        }
        SubgroupOp::Ballot {
            dst,
            predicate,
            first,
        } => {
            lanes.need(*predicate, "a predicate")?;
            let mask = lanes.holding(*predicate) & (u64::MAX >> (64 - first));
            lanes.set_all(*dst, mask);
        }
        SubgroupOp::MatchAny { dst, value, among } => {
            lanes.need(*value, "the value it compares")?;
            let values = lanes.values(*value).to_vec();
            for lane in 0..width {
                let mask = bits(lanes.full).fold(0, |mask, other| {
                    let differ = (values[lane] ^ values[other]) & among;
                    mask | ((differ == 0) as u64) << other
                });
                lanes.set(*dst, lane, mask);
            }
        }
        SubgroupOp::MatchAll { dst, value } => {
            lanes.need(*value, "the value it compares")?;
            let first = lanes.get(*value, 0);
            let is_same = bits(lanes.full).all(|lane| lanes.get(*value, lane) == first);
            lanes.set_all(*dst, if is_same { lanes.full } else { 0 });
        }
        SubgroupOp::ActiveMask { dst } => lanes.set_all(*dst, lanes.full),
        SubgroupOp::Combine {
            combining,
            dst,
            values,
            head,
            tile,
            combiner,
        } => {
            let mut heads = 0;
            if let Some(head) = head {
                lanes.need(*head, "a head flag")?;
                heads = lanes.holding(*head);
            }
            let size = size(*tile, width);
            for tile in tiles(size, lanes.present()) {
                let mut tuples = Tuples::new(values.len());
                collect(lanes, values, tile.clone(), &mut tuples);
                let head = |index| heads >> (tile.start + index) & 1 != 0;
                let results = combine_group(*combining, combiner, tuples, head)?;
                spread(lanes, dst, tile, &results, 0);
            }
        }
        SubgroupOp::BitonicSort {
            dst,
            source,
            element,
            unsigned,
            tile,
        } => {
            lanes.need(source[0], "a key")?;
            lanes.need(source[1], "a value")?;
            let size = size(*tile, width);
            for tile in tiles(size, lanes.present()) {
                let mut pairs: Vec<[u64; 2]> = tile
                    .clone()
                    .map(|lane| source.map(|reg| lanes.get(reg, lane)))
                    .collect();
                let order = |of: &[u64; 2]| {
                    [0, 1].map(|which| ordered_bits(element[which], unsigned[which], of[which]))
                };
                pairs.sort_by_key(order);
                for (lane, pair) in tile.zip(pairs) {
                    for which in 0..2 {
                        lanes.set(dst[which], lane, pair[which]);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Lanes of a tile, or of the whole subgroup.
fn size(tile: Option<u32>, width: usize) -> usize {
    tile.map_or(width, |tile| 1 << tile)
}

/// The lanes of each tile that has some.
fn tiles(size: usize, present: usize) -> impl Iterator<Item = Range<usize>> {
    let tile = move |base| base..present.min(base + size);
    (0..present).step_by(size).map(tile)
}

/// An operand that is to be the same in every lane.
fn uniform(lanes: &Lanes, reg: Reg, what: &str) -> Outcome<u64> {
    lanes.need(reg, what)?;
    lanes.uniform(reg).ok_or_else(|| {
        let first = lanes.get(reg, 0);
        let other = (0..lanes.present()).find(|&lane| lanes.get(reg, lane) != first).unwrap_or(0);
        Trap::new(format!(
            "needs {what} to be the same in all lanes, but it is {first} in lane 0 and {} in lane {other}",
            lanes.get(reg, other)
        ))
    })
}

/// Each lane reads another one's value; poison if it reads none, and its own if that one is absent.
fn gather(lanes: &mut Lanes, dst: Reg, value: Reg, from: impl Fn(usize) -> Option<usize>) {
    let (values, poison) = (lanes.values(value).to_vec(), lanes.poison(value));
    let present = lanes.present();
    for lane in 0..present {
        let there = |source| if source < present { source } else { lane };
        match from(lane)
            .map(there)
            .filter(|&source| poison >> source & 1 == 0)
        {
            Some(source) => lanes.set(dst, lane, values[source]),
            None => lanes.set_poison_lane(dst, lane),
        }
    }
}

/// Gives every lane of each tile the value of a function of the tile's lanes.
fn each_tile(lanes: &mut Lanes, tile: Option<u32>, dst: Reg, f: impl Fn(u64) -> u64) {
    let size = size(tile, lanes.width);
    for tile in tiles(size, lanes.present()) {
        let mask = u64::MAX >> (64 - tile.len()) << tile.start;
        let value = f(mask);
        tile.for_each(|lane| lanes.set(dst, lane, value));
    }
}

/// Adds some lanes' values to the tuples.
pub(crate) fn collect(lanes: &Lanes, values: &[Reg], range: Range<usize>, tuples: &mut Tuples) {
    for lane in range {
        let poison = values.iter().enumerate().fold(0, |mask, (at, &reg)| {
            mask | (lanes.is_poison(reg, lane) as u64) << at
        });
        tuples.push(values.iter().map(|&reg| lanes.get(reg, lane)), poison);
    }
}

/// Gives some lanes the tuples from `first` on.
pub(crate) fn spread(
    lanes: &mut Lanes,
    dst: &[Reg],
    range: Range<usize>,
    tuples: &Tuples,
    first: usize,
) {
    for (index, lane) in (first..).zip(range) {
        for (at, &reg) in dst.iter().enumerate() {
            lanes.set(reg, lane, tuples.get(index)[at]);
            if tuples.poison[index] >> at & 1 != 0 {
                lanes.set_poison_lane(reg, lane);
            }
        }
    }
}
