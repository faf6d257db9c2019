//! Least-significant-digit radix sort with a scanned table of histograms.
//! Portable: no block waits for another.
//!
//! For each digit of 8 bits, from the lowest:
//!
//! 1. *Histogram*: each block counts the digits of its tile of 256 keys, and
//!    writes the counts digit by digit: `counts[digit · tiles + tile]`.
//! 2. *Scan*: an exclusive scan of the whole table, in place. In this layout
//!    it says, for each digit and tile, where the tile's keys with that digit
//!    begin.
//! 3. *Scatter*: each block ranks its keys by digit, stably, and moves keys and
//!    values there, from one pair of buffers to the other.
//!
//! Papers: Knuth, The Art of Computer Programming 3, 5.2.5; Zagha & Blelloch,
//! Radix Sort for Vector Multiprocessors (1991), for the table and its scan.
//! Deviations: keys are mapped to unsigned integers as the first pass reads
//! them and mapped back as the last one writes them, instead of in phases of
//! their own; an odd number of passes ends with a copy.
//! Cost, per pass: reads each key twice and each value once, writes each once;
//! reads the table, of a word a key, three times and writes it twice.
//! 2D + 1 phases a pass: 4(2D + 1) for 32-bit keys.

use super::{Pairs, Sort};
use crate::algorithms::staircase::{BLOCK, Partials, Sweep, capacity, tiles};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::Op,
};
use std::mem::swap;

const RADIX_BITS: u32 = 8;
const DIGITS: i64 = 1 << RADIX_BITS;

/// Builds 2D + 1 phases for each digit.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let sort = Sort::of(b, op);
    let tiles = tiles(capacity(b, sort.depth, sort.data.keys));
    let passes = sort.end_bit / RADIX_BITS;
    let (mut from, mut to) = (sort.data, sort.tmp);
    for digit in 0..passes {
        let pass = Pass {
            b,
            sort: &sort,
            tiles,
            digit,
            from,
            to,
            is_first: digit == 0,
            is_last: digit + 1 == passes,
        };
        pass.histogram();
        pass.scan();
        pass.scatter();
        swap(&mut from, &mut to);
    }
    if passes % 2 == 1 {
        copy_back(b, &sort, tiles);
    }
    Ok(())
}

/// One digit's turn.
struct Pass<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    sort: &'a Sort<'b, 'c>,
    /// The most tiles there can be; the host's.
    tiles: V<'b, 'c>,
    digit: u32,
    from: Pairs<'b, 'c>,
    to: Pairs<'b, 'c>,
    /// Reads keys that are not mapped yet.
    is_first: bool,
    /// Writes keys that are no longer mapped.
    is_last: bool,
}

impl<'b, 'c> Pass<'_, 'b, 'c> {
    fn name(&self, step: &str) -> String {
        format!("sort.{step}{}", self.digit)
    }

    /// Runs `body` in the blocks that have a tile, with the live number of
    /// tiles, this thread's element and whether there is one.
    fn on_tile(&self, body: impl FnOnce(V<'b, 'c>, V<'b, 'c>, V<'b, 'c>)) {
        let b = self.b;
        let count = b.live_count(self.sort.count);
        let start = b.block_id() * BLOCK;
        b.if_(start.lt(count), || {
            let i = start + b.thread_id();
            body(tiles(count), i, i.lt(count));
        });
    }

    /// Key `i`, mapped.
    fn key(&self, i: V<'b, 'c>) -> V<'b, 'c> {
        let key = self.from.keys.at(i);
        match self.is_first {
            true => self.sort.order.map(key),
            false => key.bitcast(self.b.int_type(self.sort.order.width())),
        }
    }

    fn digit_of(&self, key: V<'b, 'c>) -> V<'b, 'c> {
        ((key >> i64::from(self.digit * RADIX_BITS)) & (DIGITS - 1)).to_i32()
    }

    /// Counts the digits of each tile.
    fn histogram(&self) {
        let b = self.b;
        b.phase(&self.name("histogram"), self.tiles, BLOCK, || {
            let counts = b.shared(b.int_type(32), DIGITS);
            self.on_tile(|tiles, i, exists| {
                let digit = b.thread_id();
                counts.set(digit, b.i32(0));
                b.sync();
                b.if_(exists, || {
                    let digit = self.digit_of(self.key(i)).to_index();
                    counts.atomic(Kind::Add, digit, b.i32(1), "block");
                });
                b.sync();
                let entry = digit * tiles + b.block_id();
                self.sort.scratch.set(entry, counts.at(digit));
            });
        });
    }

    /// Makes offsets of the counts.
    fn scan(&self) {
        let b = self.b;
        let scratch = self.sort.scratch;
        let entries = || tiles(b.live_count(self.sort.count)) * DIGITS;
        let sweep = Sweep {
            b,
            name: &self.name("scan"),
            depth: self.sort.depth as usize,
            capacity: self.tiles * DIGITS,
            combiner: &Combiner::kind(b.context(), Kind::Add, b.int_type(32)),
            inclusive: false,
            even_if_empty: false,
            count: &entries,
            load: &|i| vec![scratch.at(i)],
            partials: &|| Partials::Together {
                buffer: scratch,
                start: entries(),
            },
            total: None,
        };
        sweep.run(|entry| {
            b.if_(entry.exists, || scratch.set(entry.i, entry.scanned[0]));
        });
    }

    /// Moves keys and values to where their digit's offset says.
    fn scatter(&self) {
        let b = self.b;
        let Self { sort, from, to, .. } = self;
        b.phase(&self.name("scatter"), self.tiles, BLOCK, || {
            let counts = b.shared(b.int_type(32), DIGITS);
            let before = b.shared(b.int_type(32), DIGITS);
            self.on_tile(|tiles, i, exists| {
                let [key] = b.if_else(
                    exists,
                    || [self.key(i)],
                    || [b.zero(b.int_type(sort.order.width()))],
                );
                let digit = self.digit_of(key);
                let rank = b.radix_rank(digit, counts, before, exists, RADIX_BITS as i32);
                b.if_(exists, || {
                    let digit = digit.to_index();
                    let tile_offset = sort.scratch.at(digit * tiles + b.block_id());
                    let position = (tile_offset + (rank - before.at(digit))).to_index();
                    let key = if self.is_last {
                        sort.order.unmap(key)
                    } else {
                        key
                    };
                    to.keys.set(position, key);
                    if let (Some(values), Some(sorted)) = (from.values, to.values) {
                        sorted.copy_element(position, values, i);
                    }
                });
            });
        });
    }
}

/// Copies what an odd number of passes has left in the workspace.
fn copy_back<'b, 'c>(b: &'b Builder<'c>, sort: &Sort<'b, 'c>, tiles: V<'b, 'c>) {
    b.phase("sort.copy", tiles, BLOCK, || {
        let i = b.block_id() * BLOCK + b.thread_id();
        b.if_(i.lt(b.live_count(sort.count)), || {
            sort.data.keys.copy_element(i, sort.tmp.keys, i);
            if let (Some(values), Some(sorted)) = (sort.data.values, sort.tmp.values) {
                values.copy_element(i, sorted, i);
            }
        });
    });
}
