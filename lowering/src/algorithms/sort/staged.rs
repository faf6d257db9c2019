//! A tile's items staged in shared memory, and how many there are.

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

/// The most words of a tile's keys, where shared memory has no room for more.
const WORDS: i64 = 8192;
/// Words between one word of padding and the next, which avoids bank conflicts.
const ROW: i64 = 32;
/// Keys of the smallest tile.
const LEAST: i64 = 4096;
/// Bytes of shared memory that a sweep needs besides items: for offsets, a scan and
/// a ticket.
const OTHER_BYTES: i64 = 2 << 10;
/// The length with bank-conflict padding of `words` words, a multiple of [`ROW`].
const fn padded(words: i64) -> i64 {
    words + words / ROW
}

/// Bytes of shared memory of a sweep that stages `words` words of items.
const fn shared_bytes(words: i64) -> i64 {
    4 * words + OTHER_BYTES
}

/// An array for `words` words of items, which counters use before.
fn array<'b, 'c>(b: &'b Builder<'c>, words: i64) -> V<'b, 'c> {
    b.shared(b.int_type(32), words.max(COUNTERS))
}

/// The size of tiles.
pub(super) struct Shape {
    key_bits: u32,
    /// Bits of a value, if values are scalars; 0 if none are staged.
    pub value_bits: u32,
    /// Whether a sweep has keys and values in shared memory at once, and not one
    /// after the other in the same place.
    pub is_together: bool,
    /// Keys of a thread.
    pub items: i64,
    pub tuning: Tuning,
    /// Bytes of shared memory that a block may have.
    pub shared_bytes: i64,
}

impl Shape {
    /// From the tuning, as far as scratch and shared memory allow.
    pub fn of<'c>(sort: &Sort, op: Op<'c>, capabilities: &Capabilities) -> Result<'c, Self> {
        let values = sort.data.values.filter(|v| v.row_length().is_none());
        let value_bits = values.map_or(0, |values| bit_width(values.element()));
        let key_bits = sort.order.width();
        let bytes = i64::from((key_bits + value_bits) / 8);
        let algorithm = match key_bits {
            32 => "sort",
            _ => "sort_wide",
        };
        let mut tuning = Tuning::of(op, algorithm, bytes, capabilities)?;
        if tuning.threads != THREADS || tuning.size() < LEAST {
            let what = format!(
                "sorts by {THREADS} threads a block, and tiles of {LEAST} keys at least: \
                 not {} threads and {} keys",
                tuning.threads,
                tuning.size()
            );
            return Err(Diagnostic::at(op, what));
        }
        let words = |bits: u32| i64::from(bits / 32);
        let room = (i64::from(capabilities.max_shared_bytes) - OTHER_BYTES) / 4;
        let room = room / (ROW + 1) * ROW / words(key_bits.max(value_bits));
        let most = room.max(WORDS / words(key_bits));
        tuning.items = tuning.items.min(most / THREADS);
        let all = padded(tuning.size()) * i64::from((key_bits + value_bits) / 32);
        Ok(Self {
            key_bits,
            value_bits,
            // With two blocks on an SM, one waits while the other works.
            is_together: value_bits > 0
                && 2 * shared_bytes(all) <= i64::from(capabilities.max_shared_bytes),
            items: tuning.items,
            tuning,
            shared_bytes: capabilities.max_shared_bytes.into(),
        })
    }

    /// Shared memory in which a sweep stages its items.
    pub fn words<'b, 'c>(&self, b: &'b Builder<'c>) -> V<'b, 'c> {
        let [keys, values] = [self.key_bits, self.value_bits].map(|bits| self.planes(bits));
        let words = match self.is_together {
            true => keys + values,
            false => keys.max(values),
        };
        array(b, words)
    }

    /// The same where keys and then their payload (values or words) use the same
    /// memory.
    pub fn words_in_turn<'b, 'c>(&self, b: &'b Builder<'c>) -> V<'b, 'c> {
        array(b, self.planes(self.key_bits.max(self.value_bits)))
    }

    /// Words of a tile's items of `bits` bits.
    fn planes(&self, bits: u32) -> i64 {
        padded(self.size()) * i64::from(bits / 32)
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
/// Bank-conflict padding: one word is left unused after every 32. Of keys that
/// count up, a tile has the same number of each digit, 32 in a tile of 8,192. Then
/// the ranks of a subgroup's keys are 32 apart, and without padding all of them
/// would be in one bank.
#[derive(Clone, Copy)]
pub(super) struct Staged<'b, 'c> {
    words: V<'b, 'c>,
    /// Where they begin.
    first: i64,
    bits: u32,
    /// Words of a plane, with padding.
    plane: i64,
}

impl<'b, 'c> Staged<'b, 'c> {
    /// A tile's items of `bits` bits, at the beginning of an array.
    pub fn new(words: V<'b, 'c>, shape: &Shape, bits: u32) -> Self {
        Self {
            words,
            first: 0,
            bits,
            plane: padded(shape.size()),
        }
    }

    /// A tile's values: after its keys if there is room for both, else in their
    /// place once they have been read.
    pub fn then(&self, shape: &Shape) -> Self {
        Self {
            first: match shape.is_together {
                true => shape.planes(self.bits),
                false => 0,
            },
            bits: shape.value_bits,
            ..*self
        }
    }

    /// The word of an item.
    fn at(&self, rank: V<'b, 'c>) -> V<'b, 'c> {
        rank + (rank >> i64::from(ROW.ilog2())) + self.first
    }

    /// Stores items at their ranks.
    pub fn put(&self, items: &[V<'b, 'c>], ranks: &[V<'b, 'c>]) {
        for (bits, rank) in items.iter().zip(ranks) {
            let at = self.at(*rank).to_index();
            self.words.set(at, bits.to_i32());
            if self.bits > 32 {
                self.words.set(at + self.plane, (*bits >> 32).to_i32());
            }
        }
    }

    /// Loads the item of a rank.
    pub fn get(&self, rank: V<'b, 'c>) -> V<'b, 'c> {
        let at = self.at(rank);
        let low = self.words.at(at);
        match self.bits {
            32 => low,
            _ => low.to_i64() | (self.words.at(at + self.plane).to_i64() << 32),
        }
    }
}
