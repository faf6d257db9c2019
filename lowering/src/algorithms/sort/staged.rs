//! A tile's items in shared memory, and how many of them there are.

use super::{
    Sort,
    tile::{COUNTERS, THREADS},
};
use crate::targets::{Capabilities, tuning::Tuning};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, bit_width},
};

/// Words of items that shared memory has room for.
const WORDS: i64 = 8192;
/// Words in a row, behind which one is left out.
const ROW: i64 = 32;
/// Words of shared memory that they take.
pub(super) const PADDED: i64 = padded(WORDS);
/// Keys of the smallest tile.
const LEAST: i64 = 4096;

/// Words that so many, a multiple of [`ROW`], take with what is left out.
const fn padded(words: i64) -> i64 {
    words + words / ROW
}

/// An array for items, and for counters while there are none.
pub(super) fn words<'b, 'c>(b: &'b Builder<'c>) -> V<'b, 'c> {
    b.shared(b.int_type(32), PADDED.max(COUNTERS))
}

/// The size of tiles.
pub(super) struct Shape {
    /// Bits of a value, if values are scalars; 0 if there are none to be staged.
    pub value_bits: u32,
    /// Keys of a thread.
    pub items: i64,
    pub tuning: Tuning,
}

impl Shape {
    /// As the tuning has it, as far as scratch and shared memory allow.
    pub fn of<'c>(sort: &Sort, op: Op<'c>, capabilities: &Capabilities) -> Result<'c, Self> {
        let values = sort.data.values.filter(|v| v.row_length().is_none());
        let value_bits = values.map_or(0, |values| bit_width(values.element()));
        let bytes = i64::from((sort.order.width() + value_bits) / 8);
        let algorithm = match sort.order.width() {
            32 => "sort",
            _ => "sort_wide",
        };
        let tuning = Tuning::of(op, algorithm, bytes, capabilities)?;
        let most = WORDS / i64::from(sort.order.width() / 32);
        if tuning.threads != THREADS || !(LEAST..=most).contains(&tuning.size()) {
            let what = format!(
                "sorts by {THREADS} threads a block, and tiles of {LEAST} to {most} keys: \
                 not {} threads and {} keys",
                tuning.threads,
                tuning.size()
            );
            return Err(Diagnostic::at(op, what));
        }
        Ok(Self {
            value_bits,
            items: tuning.items,
            tuning,
        })
    }

    /// Keys of a tile.
    pub fn size(&self) -> i64 {
        self.items * THREADS
    }

    /// Tiles that keys make.
    pub fn tiles<'b, 'c>(&self, keys: V<'b, 'c>) -> V<'b, 'c> {
        (keys + (self.size() - 1)) / self.size()
    }
}

/// Items in shared memory, as words: those of 8 bytes in two planes.
///
/// A word is left out behind every 32. Of keys that count up, tiles have as many
/// of each digit as of any other, 32 in a tile of 8,192: then the ranks of a
/// subgroup's keys lie 32 apart, and all of them would be in one bank.
#[derive(Clone, Copy)]
pub(super) struct Staged<'b, 'c> {
    words: V<'b, 'c>,
    /// Where they begin.
    first: i64,
    bits: u32,
    /// Words of a plane.
    plane: i64,
}

impl<'b, 'c> Staged<'b, 'c> {
    /// So many items of so many bits, in an array of [`words`].
    pub fn new(words: V<'b, 'c>, items: i64, bits: u32) -> Self {
        Self {
            words,
            first: 0,
            bits,
            plane: padded(items),
        }
    }

    /// As many items of so many bits behind these, if there is room; else in their
    /// place, once they have been read.
    pub fn then(&self, bits: u32) -> Self {
        let planes = |bits: u32| self.plane * i64::from(bits / 32);
        let behind = planes(self.bits);
        let fits = behind + planes(bits) <= PADDED;
        Self {
            first: if fits { behind } else { 0 },
            bits,
            ..*self
        }
    }

    /// Whether they are in the place of others.
    pub fn is_shared(&self) -> bool {
        self.first == 0
    }

    /// The word of an item.
    fn at(&self, rank: V<'b, 'c>) -> V<'b, 'c> {
        rank + (rank >> i64::from(ROW.ilog2())) + self.first
    }

    /// Puts items where they rank.
    pub fn put(&self, items: &[V<'b, 'c>], ranks: &[V<'b, 'c>]) {
        for (bits, rank) in items.iter().zip(ranks) {
            let at = self.at(*rank).to_index();
            self.words.set(at, bits.to_i32());
            if self.bits > 32 {
                self.words.set(at + self.plane, (*bits >> 32).to_i32());
            }
        }
    }

    /// The item of a rank.
    pub fn get(&self, rank: V<'b, 'c>) -> V<'b, 'c> {
        let at = self.at(rank);
        let low = self.words.at(at);
        match self.bits {
            32 => low,
            _ => low.to_i64() | (self.words.at(at + self.plane).to_i64() << 32),
        }
    }
}
