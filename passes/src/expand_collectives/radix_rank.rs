//! The stable rank of each thread's digit in its block.
//!
//! Lanes with the same digit find each other; the first of them writes how many they are into the
//! subgroup's row of counters. They find each other by a match, as the target does that, by ballots, one for each
//! bit, or by atomics: each sets its bit in a word of the row, which all of them then read.
//! A thread for each digit then turns its column into offsets, row by row, and a
//! scan of the column sums gives the digits' places.
//!
//! Paper: Merrill and Grimshaw, High Performance and Scalable Radix Sorting
//! (2011), with the match of Adinets and Merrill, Onesweep (2022).
//! Deviations: counters are words; where a row for each subgroup does not fit,
//! subgroups take turns.
//! Cost: a match, a ballot a bit or an atomic and two subgroup barriers; three barriers a turn; 8 KiB of shared
//! memory.

use super::{Setting, block::Block};
use crate::expand_collectives::EXPANSION;
use qd_dialects::{
    attributes::{self, Kind, names},
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::{Op, OpExt, Value, ValueExt},
    ops::simt,
};

/// Words of shared memory that the counters may take.
const COUNTERS: i64 = 2048;
/// Lanes that a word has a bit for.
const WORD: i64 = 32;

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
    /// Words of a counter: one, or as many as have a bit for each lane.
    words: i64,
    /// Lanes of this subgroup with this lane's digit that take part; none: atomics tell.
    peers: Option<V<'b, 'c>>,
}

/// How lanes with the same digit find each other.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Peers {
    /// As the target does a match.
    Match,
    /// A ballot for each bit.
    Ballots,
    /// Each sets its bit in a word of shared memory.
    Atomics,
}

/// By one of them.
pub(super) fn radix_rank<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
    how: Peers,
) -> Result<'c, Vec<Value<'c>>> {
    let block = Block::of(op)?;
    let rank = simt::BlockRadixRank::cast(op);
    let bits = rank.radix_bits();
    let digits = 1i64 << bits;
    let subgroups = block.threads / setting.wave;
    let words = match how {
        Peers::Atomics => (setting.wave / WORD).max(1),
        Peers::Match | Peers::Ballots => 1,
    };
    let rows = subgroups.min((COUNTERS / (digits * words)).max(1));
    let counters = block.shared(b, b.int_type(32), rows * digits * words);
    let (histogram, prefix) = (b.v(rank.histogram()), b.v(rank.prefix()));

    // A thread that takes no part may hold any digit.
    let valid = rank
        .valid()
        .map_or_else(|| b.bool(true), |valid| b.v(valid));
    let digit = valid.select(b.v(rank.digit()), b.i32(0));
    let peers = (how != Peers::Atomics).then(|| {
        let same = b.match_any(digit, bits as u32);
        if let (Peers::Ballots, Some(op)) = (how, same.value().defining_op()) {
            op.set_attr(names::FORM, attributes::string(b.context(), EXPANSION));
        }
        same & b.ballot(valid)
    });
    let ranking = Ranking {
        b,
        digit,
        valid,
        histogram,
        counters,
        rows,
        digits,
        threads: block.threads,
        words,
        peers,
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
        let words = self.rows * self.digits * self.words;
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
        let mine = (row * self.digits + self.digit.to_index()) * self.words;
        let takes_turn = row.lt(self.rows) & self.valid;
        let peers = self.peers;
        let peers = peers.unwrap_or_else(|| self.peers_by_atomics(takes_turn, mine));
        let below = b.popcnt(peers & b.lanemask_lt(b.lane_id()));
        b.if_(takes_turn & below.eq(0), || {
            self.counters.set(mine, b.popcnt(peers));
        });
        b.sync();

        self.for_each_digit(|digit| {
            let start = self.histogram.at(digit);
            let (lower, upper) = (b.index(0), b.index(self.rows));
            let [end] = b.for_(lower, upper, b.index(1), [start], |row, [before]| {
                let at = (row * self.digits + digit) * self.words;
                let count = self.counters.at(at);
                self.counters.set(at, before);
                [before + count]
            });
            self.histogram.set(digit, end);
        });
        b.sync();

        let [rank] = b.if_else(takes_turn, || [self.counters.at(mine) + below], || [rank]);
        rank
    }

    /// The lanes that take a turn with this one's digit. Each sets its bit in the words at `mine`, which are zero and
    /// may be written again afterwards.
    fn peers_by_atomics(&self, takes_turn: V<'b, 'c>, mine: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let lane = b.lane_id();
        b.if_(takes_turn, || {
            let own = match self.words {
                1 => mine,
                _ => mine + (lane >> WORD.trailing_zeros() as i64).to_index(),
            };
            let bit = b.i32(1) << (lane & (WORD - 1));
            self.counters.atomic(Kind::Or, own, bit, "block");
        });
        b.subgroup_sync();
        let read = || {
            let low = self.counters.at(mine).to_i64();
            match self.words {
                1 => [low],
                _ => [low | (self.counters.at(mine + 1).to_i64() << WORD)],
            }
        };
        let [peers] = b.if_else(takes_turn, read, || [b.i64(0)]);
        b.subgroup_sync();
        peers
    }
}
