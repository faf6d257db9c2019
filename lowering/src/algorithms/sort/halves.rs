//! Keys of 8 bytes by half of their digits, where that is enough.
//!
//! 1. The last block to have counted its keys *chooses*, from the counts of the
//!    upper digits: the lower half, if no upper digit differs; the upper half, if it
//!    is likely to tell nearly all keys apart; or the whole.
//! 2. The sweeps of the digits that were chosen follow. Behind those of the upper
//!    half, what is left out of order are short runs of keys with equal upper halves,
//!    which are still as they came:
//! 3. A block *repairs* a tile: it lists the runs in it, and a thread puts each in
//!    order, where it is, with its values.
//! 4. A thread repairs the run that goes over a *seam* of two tiles, if one does.
//! 5. Where a run turns out to be long, the sweeps of the whole follow. They need
//!    nothing undone: equal keys are still as they came.
//!
//! Paper: Stehle & Jacobsen, A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs
//! (2017), for the idea to sort by digits only until little is left of each run.
//! Deviations: stable passes from the upper half's lowest digit on, so that what is
//! left is found where it is and kept in no list of buckets; an insertion sort by a
//! thread for each run; a choice beforehand.
//! Cost: reads each key once, and reads and writes each key and value four times
//! and not eight; behind the upper half reads each key once more. What fits the
//! estimate and still has long runs takes four passes for nothing. Three `if`s.

use super::{Sort, onesweep::OneSweep, pass::DIGITS};
use crate::{
    algorithms::{last_block::LastBlock, levels::BLOCK},
    targets::{Capabilities, Conditions},
};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    melior::ir::Type,
};
use std::ops::Range;

/// Threads of a block that repairs.
const THREADS: i64 = 512;
/// Keys of each of them.
const ITEMS: i64 = 8;
/// Keys of a tile.
const TILE: i64 = THREADS * ITEMS;
/// Keys of a run that a thread puts in order; their number squared is its work.
const LONGEST: i64 = 32;
/// One key in so many may share its upper half with another, by the estimate.
const SHARED_BY_ONE_IN: i64 = 4;

/// The words that say what is done.
pub(super) struct Halves<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    sort: &'a Sort<'b, 'c>,
    last_block: LastBlock<'b, 'c>,
    /// Whether the upper half is swept.
    upper: V<'b, 'c>,
    /// Whether the lower half is.
    lower: V<'b, 'c>,
    /// Whether all digits are: at once, or because the upper half was not enough.
    whole: V<'b, 'c>,
}

impl<'a, 'b, 'c> Halves<'a, 'b, 'c> {
    /// If there are halves to choose from, and the device can.
    pub fn of(
        b: &'b Builder<'c>,
        sort: &'a Sort<'b, 'c>,
        capabilities: &Capabilities,
    ) -> Option<Self> {
        let is_whole = sort.order.width() == 64 && sort.end_bit == 64;
        let has_rows = sort.data.values.is_some_and(|v| v.row_length().is_some());
        let can = capabilities.conditions == Conditions::OnDevice;
        (is_whole && !has_rows && can).then(|| Self {
            b,
            sort,
            last_block: LastBlock::new(b),
            upper: b.control(1),
            lower: b.control(1),
            whole: b.control(1),
        })
    }

    /// The upper half's digits.
    fn upper_digits(&self) -> Range<u32> {
        self.sort.passes() / 2..self.sort.passes()
    }

    /// What [`choose`](Self::choose) needs of a block's shared memory.
    pub fn shared(&self) -> V<'b, 'c> {
        self.last_block.shared()
    }

    /// In a block of several that has counted its keys, at its end.
    pub fn choose(&self, is_last: V<'b, 'c>, blocks: V<'b, 'c>, count: V<'b, 'c>) {
        let b = self.b;
        let zero = b.index(0);
        // All of the block's counts are there.
        b.sync();
        self.last_block.run(blocks, is_last, || {
            let bins = self.bins();
            let differing = self.differing(&bins, count);
            let sharing = self.sharing(&bins, count);
            b.if_(b.thread_id().eq(0), || {
                let lower = differing.eq(0);
                let upper = (sharing * SHARED_BY_ONE_IN).le(1);
                self.lower.set(zero, lower.to_i32());
                self.upper.set(zero, upper.to_i32());
                self.whole.set(zero, (lower | upper).eq(0).to_i32());
            });
        });
    }

    /// The same in the block of a single tile, of which no digit is counted.
    pub fn choose_whole(&self) {
        let b = self.b;
        b.if_(b.thread_id().eq(0), || {
            self.whole.set(b.index(0), b.i32(1));
        });
    }

    /// This thread's bins of the upper digits: how many keys each has. A thread
    /// beyond the bins has none.
    fn bins(&self) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let has_digit = b.thread_id().lt(DIGITS);
        let bin = |digit| {
            let at = b.thread_id() + i64::from(digit) * DIGITS;
            let count = || [self.sort.scratch.at(at)];
            let [count] = b.if_else(has_digit, count, || [b.i32(0)]);
            count
        };
        self.upper_digits().map(bin).collect()
    }

    /// How many upper digits are not the same in all keys. In thread 0, `i32`.
    fn differing(&self, bins: &[V<'b, 'c>], count: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let add = Combiner::kind(b.context(), Kind::Add, b.int_type(32));
        let has_all = |bin: &V<'b, 'c>| bin.to_index().eq(count).to_i32();
        let same = bins.iter().map(has_all).fold(b.i32(0), |sum, is| sum + is);
        let [same] = b.combine("block.reduce", &add, [same]);
        b.i32(bins.len() as i32) - same
    }

    /// How many keys share a key's upper half, if digits do not depend on each
    /// other: of each digit, the chance of two keys to have the same one. In thread
    /// 0, `f32`.
    fn sharing(&self, bins: &[V<'b, 'c>], count: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let r#type = Type::float32(b.context());
        let add = Combiner::kind(b.context(), Kind::Add, r#type);
        let float = |v: V<'b, 'c>| b.result("arith.uitofp", &[v], r#type, &[]);
        let all = float(count.to_i64());
        bins.iter().fold(all, |sharing, bin| {
            let share = float(*bin) / all;
            let [same] = b.combine("block.reduce", &add, [share * share]);
            sharing * same
        })
    }

    /// Builds what can be chosen, of at most so many keys. `sweeps` builds the
    /// sweeps of some digits, with something before each.
    pub fn build(
        &self,
        one_sweep: &OneSweep<'_, 'b, 'c>,
        most: V<'b, 'c>,
        sweeps: impl Fn(Range<u32>, &dyn Fn(u32)),
    ) {
        let b = self.b;
        let blocks = |keys: i64| (most + (keys - 1)) / keys;
        b.run_if(self.upper, || {
            sweeps(self.upper_digits(), &|_| ());
            b.phase("sort.repair", blocks(TILE), THREADS, || {
                self.once(|| {
                    self.upper.set(b.index(0), b.i32(0));
                    // For the whole. States have turned back.
                    for digit in self.upper_digits() {
                        let ticket = b.index(one_sweep.ticket(digit));
                        self.sort.scratch.set(ticket, b.i32(0));
                    }
                });
                self.repair();
            });
            b.phase("sort.seams", blocks(TILE * BLOCK), BLOCK, || self.seams());
        });
        let half = self.upper_digits().start;
        for (word, end) in [(self.lower, half), (self.whole, self.sort.passes())] {
            b.run_if(word, || {
                sweeps(0..end, &|digit| {
                    if digit == 0 {
                        self.once(|| word.set(b.index(0), b.i32(0)));
                    }
                });
            });
        }
    }

    /// In one thread of all.
    fn once(&self, body: impl FnOnce()) {
        let b = self.b;
        b.if_(b.block_id().eq(0) & b.thread_id().eq(0), body);
    }

    /// The upper half of a key, as far as equality goes.
    fn half(&self, i: V<'b, 'c>) -> V<'b, 'c> {
        let bits = self.sort.data.keys.at_as(i, self.b.int_type(64));
        (bits >> 32).to_i32()
    }

    /// Repairs a tile: runs, as far as they are in it.
    fn repair(&self) {
        let b = self.b;
        let halves = b.shared(b.int_type(32), TILE);
        let runs = b.shared(b.int_type(32), TILE / 2);
        let found = b.shared(b.int_type(32), 1);
        let zero = b.index(0);
        let count = self.sort.count.live();
        let start = b.block_id() * TILE;
        b.if_(start.lt(count), || {
            let length = (count - start).min(TILE);
            let own = |nth: i64| b.thread_id() + nth * THREADS;
            let load = |nth| self.half(start + own(nth).min(length - 1));
            let loaded: Vec<_> = (0..ITEMS).map(load).collect();
            for (nth, half) in (0..).zip(&loaded) {
                halves.set(own(nth), *half);
            }
            b.if_(b.thread_id().eq(0), || found.set(zero, b.i32(0)));
            b.sync();
            for (nth, half) in (0..).zip(&loaded) {
                let at = own(nth);
                let is_first = at.eq(0) | halves.at(at.max(1) - 1).ne(*half);
                let goes_on = halves.at((at + 1).min(TILE - 1)).eq(*half);
                b.if_(is_first & goes_on & (at + 1).lt(length), || {
                    let place = found.atomic(Kind::Add, zero, b.i32(1), "block");
                    runs.set(place.to_index(), at.to_i32());
                });
            }
            b.sync();
            let number = found.at(zero).to_index();
            b.for_(b.thread_id(), number, b.index(THREADS), [], |nth, none| {
                let first = runs.at(nth).to_index();
                let end = self.end(first, length, |at| halves.at(at));
                self.settle(start + first, start + end);
                none
            });
        });
    }

    /// Repairs what goes over a seam.
    fn seams(&self) {
        let b = self.b;
        let count = self.sort.count.live();
        let seam = (b.block_id() * BLOCK + b.thread_id() + 1) * TILE;
        b.if_(seam.lt(count), || {
            let half = self.half(seam);
            b.if_(self.half(seam - 1).eq(half), || {
                // Tiles are longer.
                let least = seam - (LONGEST + 1);
                let [first] = b.while_(
                    [seam - 1],
                    |[at]| at.gt(least) & self.half(*at - 1).eq(half),
                    |[at]| [at - 1],
                );
                let end = self.end(first, count, |at| self.half(at));
                self.settle(first, end);
            });
        });
    }

    /// Behind the last key of a run, or as far behind the first as it may be.
    fn end(
        &self,
        first: V<'b, 'c>,
        length: V<'b, 'c>,
        half: impl Fn(V<'b, 'c>) -> V<'b, 'c>,
    ) -> V<'b, 'c> {
        let b = self.b;
        let own = half(first);
        let most = length.min(first + (LONGEST + 1));
        let [end] = b.while_(
            [first + 1],
            |[at]| at.lt(most) & half(at.min(length - 1)).eq(own),
            |[at]| [at + 1],
        );
        end
    }

    /// Puts a run in order, unless it is too long.
    fn settle(&self, first: V<'b, 'c>, end: V<'b, 'c>) {
        let b = self.b;
        b.either(
            (end - first).gt(LONGEST),
            || self.whole.atomic_set(b.index(0), b.i32(1), "device"),
            || {
                b.for_(first + 1, end, b.index(1), [], |at, none| {
                    self.insert(first, at);
                    none
                });
            },
        );
    }

    /// Moves element `at` before those of the run that are greater, all of which
    /// are in order.
    fn insert(&self, first: V<'b, 'c>, at: V<'b, 'c>) {
        let b = self.b;
        let Sort { order, data, .. } = self.sort;
        let own = data.keys.at(at);
        let mapped = order.map(own);
        let before = |at: V<'b, 'c>| at.max(first + 1) - 1;
        b.while_(
            [at],
            |[at]| at.gt(first) & order.map(data.keys.at(before(*at))).gt(mapped),
            |[at]| {
                let to = before(at);
                data.keys.set(at, data.keys.at(to));
                data.keys.set(to, own);
                if let Some(values) = data.values {
                    let (own, other) = (values.at(at), values.at(to));
                    values.set(at, other);
                    values.set(to, own);
                }
                [to]
            },
        );
    }
}
