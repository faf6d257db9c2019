//! A tile of keys in the registers of a block, ranked by a digit.
//!
//! Each subgroup has consecutive keys in a striped arrangement: loads are
//! coalesced, and the order of keys is that of subgroups, then items, then
//! lanes. Digits are counted by atomics, in a row of counters for every 32
//! threads. A thread for each digit scans its column: where each row's keys of
//! the digit begin. Then lanes with the same digit find each other by ballots,
//! and the last of them advances the row's counter.
//!
//! Papers: Merrill & Grimshaw, High Performance and Scalable Radix Sorting
//! (2011); Adinets & Merrill, Onesweep (2022).
//! Deviations: subgroups of fewer than 32 lanes take turns at their row. Digits
//! are counted before they are ranked, as CUB does where tiles wait for the
//! counts of others.

use super::{DIGITS, RADIX_BITS};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, V},
};

/// Threads of a block.
pub(super) const THREADS: i64 = 512;
/// Threads that share a row of counters.
const TEAM: i64 = 32;
const ROWS: i64 = THREADS / TEAM;
/// Words of shared memory for the counters.
pub(super) const COUNTERS: i64 = ROWS * DIGITS;

/// Where a thread's items are in its tile.
pub(super) struct Layout<'b, 'c> {
    first: V<'b, 'c>,
    step: V<'b, 'c>,
}

impl<'b, 'c> Layout<'b, 'c> {
    /// For this thread, which has `items` items.
    pub fn new(b: &'b Builder<'c>, items: i64) -> Self {
        let step = b.subgroup_size().to_index();
        let subgroup = b.subgroup_id().to_index() * step;
        Self {
            first: subgroup * items + b.lane_id().to_index(),
            step,
        }
    }

    /// Item `nth` of a tile that begins at `start`.
    pub fn item(&self, start: V<'b, 'c>, nth: i64) -> V<'b, 'c> {
        start + self.first + self.step * nth
    }
}

/// Shared memory in which a tile is ranked.
pub(super) struct Ranking<'b, 'c> {
    b: &'b Builder<'c>,
    counters: V<'b, 'c>,
}

impl<'b, 'c> Ranking<'b, 'c> {
    /// In the first [`COUNTERS`] words of an array.
    pub fn new(b: &'b Builder<'c>, counters: V<'b, 'c>) -> Self {
        Self { b, counters }
    }

    /// Sets all counters to 0; a barrier has to follow.
    pub fn clear(&self) {
        let b = self.b;
        for nth in 0..COUNTERS / THREADS {
            self.counters.set(b.thread_id() + nth * THREADS, b.i32(0));
        }
    }

    /// This subgroup's row.
    fn row(&self) -> V<'b, 'c> {
        let b = self.b;
        let together = b.subgroup_size().max(TEAM).to_index();
        b.thread_id() / together * DIGITS
    }

    /// Counts a digit of this thread; yields how many of its row were counted
    /// before.
    pub fn count(&self, digit: V<'b, 'c>) -> V<'b, 'c> {
        let at = self.row() + digit.to_index();
        self.counters.atomic(Kind::Add, at, self.b.i32(1), "block")
    }

    /// The rank of a digit of this thread in the order of counting.
    pub fn rank_as_counted(&self, digit: V<'b, 'c>, before: V<'b, 'c>) -> V<'b, 'c> {
        self.counters.at(self.row() + digit.to_index()) + before
    }

    /// Whether this thread's number is a digit.
    pub fn has_digit(&self) -> V<'b, 'c> {
        self.b.thread_id().lt(DIGITS)
    }

    /// How often the digit that is this thread's number has been counted; 0 if
    /// it is no digit.
    pub fn total(&self) -> V<'b, 'c> {
        let b = self.b;
        let sum = || {
            let rows = (0..ROWS).map(|row| self.counters.at(self.own(row)));
            [rows.reduce(|sum, count| sum + count).expect("several rows")]
        };
        let [total] = b.if_else(self.has_digit(), sum, || [b.i32(0)]);
        total
    }

    /// The counter of this thread's digit in a row.
    fn own(&self, row: i64) -> V<'b, 'c> {
        self.b.thread_id() + row * DIGITS
    }

    /// Makes the ranks of this thread's digit begin at `start`; a barrier has to
    /// follow.
    pub fn begin(&self, start: V<'b, 'c>) {
        self.b.if_(self.has_digit(), || {
            (0..ROWS).fold(start, |start, row| {
                // Loaded again, to save a register.
                let count = self.counters.at(self.own(row));
                self.counters.set(self.own(row), start);
                start + count
            });
        });
    }

    /// The stable ranks of this thread's digits in the tile.
    pub fn rank(&self, digits: &[V<'b, 'c>]) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let size = b.subgroup_size();
        let row = self.row();
        let turns = b.i32(TEAM as i32) / size.min(TEAM);
        let mine = b.subgroup_id() % turns;
        let ranks = vec![b.i32(0); digits.len()];
        b.for_(b.i32(0), turns, b.i32(1), ranks, |turn, ranks| {
            let ranks = b.if_else(mine.eq(turn), || self.turn(row, digits), || ranks);
            // Before the next subgroup's turn.
            b.if_(turns.gt(1), || b.sync());
            ranks
        })
    }

    /// Ranks the digits of a subgroup, which has the row to itself during its
    /// turn.
    fn turn(&self, row: V<'b, 'c>, digits: &[V<'b, 'c>]) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let rank = |digit: &V<'b, 'c>| {
            let at = row + digit.to_index();
            let [below, is_last] = self.peers(*digit);
            let rank = self.counters.at(at) + below;
            b.subgroup_sync();
            b.if_(is_last, || self.counters.set(at, rank + 1));
            b.subgroup_sync();
            rank
        };
        digits.iter().map(rank).collect()
    }

    /// How many lanes below this one have its digit, and whether none above has.
    fn peers(&self, digit: V<'b, 'c>) -> [V<'b, 'c>; 2] {
        let b = self.b;
        let peers = b.match_any(digit, RADIX_BITS);
        let below = b.lanemask_lt(b.lane_id());
        let above = !(below << 1 | 1);
        let among = |narrow: &dyn Fn(V<'b, 'c>) -> V<'b, 'c>| {
            let [peers, below, above] = [peers, below, above].map(narrow);
            [b.popcnt(peers & below), (peers & above).eq(0)]
        };
        // Masks of 32 bits where they are enough: there they cost half.
        b.if_else(
            b.subgroup_size().le(32),
            || among(&|mask| mask.to_i32()),
            || among(&|mask| mask),
        )
    }
}
