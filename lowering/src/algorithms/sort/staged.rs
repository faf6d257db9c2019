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

/// Words of shared memory that items take.
pub(super) const WORDS: i64 = 8192;
/// Keys of the smallest tile.
const LEAST: i64 = 4096;

/// An array for items, and for counters while there are none.
pub(super) fn words<'b, 'c>(b: &'b Builder<'c>) -> V<'b, 'c> {
    b.shared(b.int_type(32), WORDS.max(COUNTERS))
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
#[derive(Clone, Copy)]
pub(super) struct Staged<'b, 'c> {
    pub words: V<'b, 'c>,
    /// Where they begin.
    pub first: i64,
    pub bits: u32,
    /// Items of a plane.
    pub size: i64,
}

impl<'b, 'c> Staged<'b, 'c> {
    /// Puts items where they rank.
    pub fn put(&self, items: &[V<'b, 'c>], ranks: &[V<'b, 'c>]) {
        for (bits, rank) in items.iter().zip(ranks) {
            let at = rank.to_index() + self.first;
            self.words.set(at, bits.to_i32());
            if self.bits > 32 {
                self.words.set(at + self.size, (*bits >> 32).to_i32());
            }
        }
    }

    /// The item of a rank.
    pub fn get(&self, rank: V<'b, 'c>) -> V<'b, 'c> {
        let at = rank + self.first;
        let low = self.words.at(at);
        match self.bits {
            32 => low,
            _ => low.to_i64() | (self.words.at(at + self.size).to_i64() << 32),
        }
    }
}
