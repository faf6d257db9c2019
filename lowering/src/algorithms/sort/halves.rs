//! Sorts keys of 8 bytes by half of their digits, where that is enough.
//!
//! 1. The last block to count its keys *chooses* from the counts of the upper
//!    digits: the lower half, if no upper digit differs; the upper half, if it is
//!    likely to distinguish nearly all keys; or the whole.
//! 2. The sweeps of the chosen digits follow. After those of the upper half, only
//!    short runs of keys with equal upper halves are unsorted; they are still in
//!    input order:
//! 3. A block *repairs* a tile: it lists the runs in it, and a thread sorts each in
//!    place, with its values.
//! 4. A thread repairs the run that crosses a *seam* between two tiles, if one does.
//! 5. If a run turns out to be long, the sweeps of the whole follow. They need
//!    nothing undone: equal keys are still in input order.
//!
//! Paper: Stehle & Jacobsen, A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs
//! (2017), for the idea to sort by digits only until short runs remain.
//! Deviations: stable passes start at the upper half's lowest digit, so that the
//! remaining runs are found in place and no list of buckets is kept; one thread
//! sorts each run by insertion; the choice is made beforehand.
//! Cost: reads each key once, and reads and writes each key and value four times and
//! not eight; after the upper half reads each key once more. Keys that pass the
//! estimate and still have long runs cost four wasted passes. Three `if`s.

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
/// The longest run that a thread sorts; its work grows with the square of the
/// length.
const LONGEST: i64 = 32;
/// The estimate may find one in so many keys that shares its upper half with
/// another.
const SHARED_BY_ONE_IN: i64 = 4;

/// The control words that say which digits are sorted.
pub(super) struct Halves<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    sort: &'a Sort<'b, 'c>,
    last_block: LastBlock<'b, 'c>,
    /// Whether the upper half is swept.
    upper: V<'b, 'c>,
    /// Whether the lower half is.
    lower: V<'b, 'c>,
    /// Whether all digits are: chosen at first, or because the upper half was not
    /// enough.
    whole: V<'b, 'c>,
}

impl<'a, 'b, 'c> Halves<'a, 'b, 'c> {
    /// If the keys have halves to choose from, and the device can.
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

    /// The shared memory that [`choose`](Self::choose) needs.
    pub fn shared(&self) -> V<'b, 'c> {
        self.last_block.shared()
    }

    /// Run at the end of a phase by each of several blocks that have counted their
    /// keys.
    pub fn choose(&self, is_last: V<'b, 'c>, blocks: V<'b, 'c>, count: V<'b, 'c>) {
        let b = self.b;
        let zero = b.index(0);
        // The block's counts are complete.
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

    /// The same in the block of a single tile, which counts no digits.
    pub fn choose_whole(&self) {
        let b = self.b;
        b.if_(b.thread_id().eq(0), || {
            self.whole.set(b.index(0), b.i32(1));
        });
    }

    /// How many keys each of this thread's bins of the upper digits has. A thread
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

    /// How many upper digits differ between keys. In thread 0, `i32`.
    fn differing(&self, bins: &[V<'b, 'c>], count: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let add = Combiner::kind(b.context(), Kind::Add, b.int_type(32));
        let has_all = |bin: &V<'b, 'c>| bin.to_index().eq(count).to_i32();
        let same = bins.iter().map(has_all).fold(b.i32(0), |sum, is| sum + is);
        let [same] = b.combine("block.reduce", &add, [same]);
        b.i32(bins.len() as i32) - same
    }

    /// The number of keys that share a key's upper half, if digits are independent:
    /// the product over the digits of the chance that two keys have the same digit.
    /// In thread 0, `f32`.
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

    /// Builds the choices, for at most `most` keys. `sweeps` builds the sweeps of
    /// some digits, and inserts ops before each.
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
                    // For the whole. The status flags have their first parity again.
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

    /// In one thread of the grid.
    fn once(&self, body: impl FnOnce()) {
        let b = self.b;
        b.if_(b.block_id().eq(0) & b.thread_id().eq(0), body);
    }

    /// The upper half of a key, for comparison by equality.
    fn half(&self, i: V<'b, 'c>) -> V<'b, 'c> {
        let bits = self.sort.data.keys.at_as(i, self.b.int_type(64));
        (bits >> 32).to_i32()
    }

    /// Repairs a tile: the parts of runs that are in it.
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

    /// Repairs the runs that cross a seam.
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

    /// The end of a run that begins at `first`, or of its longest part that may be
    /// sorted.
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

    /// Sorts a run, unless it is too long.
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

    /// Inserts element `at` before the greater elements of the run, all of which are
    /// sorted.
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
