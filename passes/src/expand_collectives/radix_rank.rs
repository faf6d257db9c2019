//! The stable rank of each thread's digit in its block.
//!
//! Lanes with the same digit find each other by ballots, one for each bit; the
//! first of them writes how many they are into the subgroup's row of counters.
//! A thread for each digit then turns its column into offsets, row by row, and a
//! scan of the column sums gives the digits' places.
//!
//! Paper: Merrill and Grimshaw, High Performance and Scalable Radix Sorting
//! (2011), with the match of Adinets and Merrill, Onesweep (2022).
//! Deviations: counters are words; where a row for each subgroup does not fit,
//! subgroups take turns.
//! Cost: one ballot a bit and three barriers a turn; 8 KiB of shared memory.

use super::{Setting, block::Block};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::{Op, Value},
    ops::simt,
};

/// Words of shared memory that the counters may take.
const COUNTERS: i64 = 2048;

/// What the turns need to know.
struct Ranking<'b, 'c> {
    b: &'b Builder<'c>,
    digit: V<'b, 'c>,
    valid: V<'b, 'c>,
    histogram: V<'b, 'c>,
    counters: V<'b, 'c>,
    /// Subgroups that take a turn together.
    rows: i64,
    digits: i64,
    threads: i64,
    /// Lanes of this subgroup with this lane's digit that take part.
    peers: V<'b, 'c>,
    /// How many of them are below this lane.
    below: V<'b, 'c>,
}

pub(super) fn radix_rank<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let block = Block::of(op)?;
    let rank = simt::BlockRadixRank::cast(op);
    let bits = rank.radix_bits();
    let digits = 1i64 << bits;
    let subgroups = block.threads / setting.wave;
    let rows = subgroups.min((COUNTERS / digits).max(1));
    let counters = block.shared(b, b.int_type(32), rows * digits);
    let (histogram, prefix) = (b.v(rank.histogram()), b.v(rank.prefix()));

    // A thread that takes no part may hold any digit.
    let valid = rank
        .valid()
        .map_or_else(|| b.bool(true), |valid| b.v(valid));
    let digit = valid.select(b.v(rank.digit()), b.i32(0));
    let same = b.match_any(digit, bits as u32) & b.ballot(valid);
    let ranking = Ranking {
        b,
        digit,
        valid,
        histogram,
        counters,
        rows,
        digits,
        threads: block.threads,
        peers: same,
        below: b.popcnt(same & b.lanemask_lt(b.lane_id())),
    };

    // A barrier stands after earlier reads of the arrays, or they race.
    ranking.for_each_digit(|at| histogram.set(at, b.i32(0)));
    let zero = b.i32(0);
    let rank = match rows == subgroups {
        true => ranking.turn(b.index(0), zero),
        false => {
            let (upper, step) = (b.index(subgroups), b.index(rows));
            let [rank] = b.for_(b.index(0), upper, step, [zero], |first, [rank]| {
                let rank = ranking.turn(first, rank);
                // The counters have been read.
                b.sync();
                [rank]
            });
            rank
        }
    };

    // Where each digit begins.
    let thread = b.thread_id();
    let is_digit = thread.lt(digits);
    let [count] = b.if_else(is_digit, || [histogram.at(thread)], || [b.i32(0)]);
    let add = Combiner::kind(b.context(), Kind::Add, count.ty());
    let [place] = b.combine("block.exclusive_scan", &add, [count]);
    ranking.for_each_digit(|at| prefix.set(at, place));
    b.sync();
    Ok(vec![(prefix.at(digit.to_index()) + rank).value()])
}

impl<'b, 'c> Ranking<'b, 'c> {
    /// Runs `body` in one thread for each digit.
    fn for_each_digit(&self, body: impl FnOnce(V<'b, 'c>)) {
        let thread = self.b.thread_id();
        match self.threads == self.digits {
            true => body(thread),
            false => self.b.if_(thread.lt(self.digits), || body(thread)),
        }
    }

    /// Subgroups `first … first + rows − 1` rank their digits after those of
    /// the subgroups before; the others' `rank` stays.
    fn turn(&self, first: V<'b, 'c>, rank: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let thread = b.thread_id();
        let words = self.rows * self.digits;
        b.for_(
            thread,
            b.index(words),
            b.index(self.threads),
            [],
            |at, []| {
                self.counters.set(at, b.i32(0));
                []
            },
        );
        b.sync();

        let row = b.subgroup_id().to_index() - first;
        let mine = row * self.digits + self.digit.to_index();
        let takes_turn = row.lt(self.rows) & self.valid;
        b.if_(takes_turn & self.below.eq(0), || {
            self.counters.set(mine, b.popcnt(self.peers));
        });
        b.sync();

        self.for_each_digit(|digit| {
            let start = self.histogram.at(digit);
            let (lower, upper) = (b.index(0), b.index(self.rows));
            let [end] = b.for_(lower, upper, b.index(1), [start], |row, [before]| {
                let at = row * self.digits + digit;
                let count = self.counters.at(at);
                self.counters.set(at, before);
                [before + count]
            });
            self.histogram.set(digit, end);
        });
        b.sync();

        let [rank] = b.if_else(
            takes_turn,
            || [self.counters.at(mine) + self.below],
            || [rank],
        );
        rank
    }
}
