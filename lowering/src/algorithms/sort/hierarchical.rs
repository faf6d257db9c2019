//! Least-significant-digit radix sort with a scanned table of histograms.
//! Portable: no block waits for another.
//!
//! For each digit of 8 bits, from the lowest:
//!
//! 1. *Histogram*: each block counts the digits of its tile of 256 keys, and
//!    writes the counts digit by digit: `counts[digit · tiles + tile]`.
//! 2. *Scan*: an exclusive scan of the whole table, in place. In this layout
//!    it gives, for each digit and tile, where the tile's keys with that digit
//!    begin.
//! 3. *Scatter*: each block ranks its keys by digit, stably, and moves keys
//!    and values there, from one pair of buffers to the other.
//!
//! Papers: Knuth, The Art of Computer Programming 3, 5.2.5; Zagha & Blelloch,
//! Radix Sort for Vector Multiprocessors (1991), for the table and its scan.
//! Deviations: keys are mapped to unsigned integers as the first pass reads
//! them and mapped back as the last one writes them, instead of in phases of
//! their own; an odd number of passes ends with a copy.
//! Cost, per pass: reads each key twice and each value once, writes each once;
//! reads the table, of a word a key, three times and writes it twice.
//! 2D + 1 phases a pass: 4(2D + 1) for 32-bit keys.

use super::{DIGITS, Pass, RADIX_BITS, Sort};
use crate::algorithms::{
    levels::{BLOCK, tiles},
    partials::Partials,
    sweep::{Form, Sweep, Total},
};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::Op,
};

/// Builds 2D + 1 phases for each digit.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let sort = Sort::of(b, op);
    let capacity = sort.count.capacity;
    let tiles = tiles(capacity);
    sort.for_passes(b, capacity, |pass| {
        let pass = Tiled { pass, tiles };
        pass.histogram();
        pass.scan();
        pass.scatter();
    });
    Ok(())
}

struct Tiled<'a, 'b, 'c> {
    pass: Pass<'a, 'b, 'c>,
    /// The largest number of tiles; the host's.
    tiles: V<'b, 'c>,
}

impl<'b, 'c> Tiled<'_, 'b, 'c> {
    /// Runs `body` in the blocks that have a tile, with the live number of
    /// tiles, this thread's element and whether there is one.
    fn on_tile(&self, body: impl FnOnce(V<'b, 'c>, V<'b, 'c>, V<'b, 'c>)) {
        let b = self.pass.b;
        let count = self.pass.sort.count.live();
        let start = b.block_id() * BLOCK;
        b.if_(start.lt(count), || {
            let i = start + b.thread_id();
            body(tiles(count), i, i.lt(count));
        });
    }

    /// Counts the digits of each tile.
    fn histogram(&self) {
        let Pass { b, sort, .. } = self.pass;
        b.phase(&self.pass.name("histogram"), self.tiles, BLOCK, || {
            let counts = b.shared(b.int_type(32), DIGITS);
            self.on_tile(|tiles, i, exists| {
                let digit = b.thread_id();
                counts.set(digit, b.i32(0));
                b.sync();
                b.if_(exists, || {
                    let digit = self.pass.digit_of(self.pass.key(i)).to_index();
                    counts.atomic(Kind::Add, digit, b.i32(1), "block");
                });
                b.sync();
                let entry = digit * tiles + b.block_id();
                sort.scratch.set(entry, counts.at(digit));
            });
        });
    }

    /// Scans the counts to offsets.
    fn scan(&self) {
        let Pass { b, sort, .. } = self.pass;
        let scratch = sort.scratch;
        let entries = || tiles(sort.count.live()) * DIGITS;
        let sweep = Sweep {
            b,
            form: Form::Hierarchical,
            name: &self.pass.name("scan"),
            depth: sort.depth,
            capacity: self.tiles * DIGITS,
            combiner: &Combiner::kind(b.context(), Kind::Add, b.int_type(32)),
            inclusive: false,
            count: &entries,
            load: &|i| vec![scratch.at(i)],
            partials: &|| Partials::Together {
                buffer: scratch,
                start: entries(),
            },
            total: Total::Unused,
        };
        sweep.run(|entry| {
            b.if_(entry.exists, || scratch.set(entry.i, entry.scanned[0]));
        });
    }

    /// Moves keys and values to their digit's offset.
    fn scatter(&self) {
        let Pass { b, sort, .. } = self.pass;
        b.phase(&self.pass.name("scatter"), self.tiles, BLOCK, || {
            let counts = b.shared(b.int_type(32), DIGITS);
            let before = b.shared(b.int_type(32), DIGITS);
            self.on_tile(|tiles, i, exists| {
                let [key] = b.if_else(
                    exists,
                    || [self.pass.key(i)],
                    || [b.zero(b.int_type(sort.order.width()))],
                );
                let digit = self.pass.digit_of(key);
                let rank = b.radix_rank(digit, counts, before, exists, RADIX_BITS as i32);
                b.if_(exists, || {
                    let digit = digit.to_index();
                    let tile_offset = sort.scratch.at(digit * tiles + b.block_id());
                    let position = (tile_offset + (rank - before.at(digit))).to_index();
                    self.pass.put(position, key, i);
                });
            });
        });
    }
}
