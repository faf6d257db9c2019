//! What radix sorts share: passes over digits, between two pairs of buffers.

use super::Sort;
use crate::algorithms::levels::{BLOCK, tiles};
use qd_dialects::builder::{Builder, V};
use std::{mem::swap, ops::Range};

/// Bits of a digit.
pub(super) const RADIX_BITS: u32 = 8;
/// The number of digits' values.
pub(super) const DIGITS: i64 = 1 << RADIX_BITS;

/// Keys, and values if there are any.
#[derive(Clone, Copy)]
pub(super) struct Pairs<'b, 'c> {
    pub keys: V<'b, 'c>,
    pub values: Option<V<'b, 'c>>,
}

impl<'b, 'c> Pairs<'b, 'c> {
    /// Copies the values of pair `j` of `from` to pair `i`.
    fn copy_values(self, i: V<'b, 'c>, from: Self, j: V<'b, 'c>) {
        if let (Some(to), Some(from)) = (self.values, from.values) {
            to.copy_element(i, from, j);
        }
    }
}

/// The `nth` digit of a mapped key, from the lowest, `i32`.
pub(super) fn digit<'b, 'c>(key: V<'b, 'c>, nth: u32) -> V<'b, 'c> {
    ((key >> i64::from(nth * RADIX_BITS)) & (DIGITS - 1)).to_i32()
}

/// The pass of one digit. Keys are mapped to unsigned integers as the first pass
/// reads them, and mapped back as the last one writes them.
pub(super) struct Pass<'a, 'b, 'c> {
    pub b: &'b Builder<'c>,
    pub sort: &'a Sort<'b, 'c>,
    /// The digit's number, from the lowest.
    pub digit: u32,
    pub from: Pairs<'b, 'c>,
    pub to: Pairs<'b, 'c>,
    is_first: bool,
    is_last: bool,
}

impl<'b, 'c> Sort<'b, 'c> {
    /// How many digits take part.
    pub fn passes(&self) -> u32 {
        self.end_bit / RADIX_BITS
    }

    /// Calls `build` for the phases of each pass. After an odd number of passes the
    /// result is in the workspace, and is copied back, as many keys as there may
    /// be.
    pub fn for_passes(
        &self,
        b: &'b Builder<'c>,
        most: V<'b, 'c>,
        build: impl Fn(Pass<'_, 'b, 'c>),
    ) {
        let passes = self.passes();
        self.for_digits(b, 0..passes, build);
        if passes % 2 == 1 {
            self.copy_back(b, most);
        }
    }

    /// The same for some digits alone: an even number, or the result is left in the
    /// workspace.
    pub fn for_digits(
        &self,
        b: &'b Builder<'c>,
        digits: Range<u32>,
        build: impl Fn(Pass<'_, 'b, 'c>),
    ) {
        let (mut from, mut to) = (self.data, self.tmp);
        for digit in digits.clone() {
            build(Pass {
                b,
                sort: self,
                digit,
                from,
                to,
                is_first: digit == digits.start,
                is_last: digit + 1 == digits.end,
            });
            swap(&mut from, &mut to);
        }
    }

    fn copy_back(&self, b: &'b Builder<'c>, most: V<'b, 'c>) {
        b.phase("sort.copy", tiles(most), BLOCK, || {
            let i = b.block_id() * BLOCK + b.thread_id();
            b.if_(i.lt(self.count.live()), || {
                self.data.keys.copy_element(i, self.tmp.keys, i);
                self.data.copy_values(i, self.tmp, i);
            });
        });
    }
}

impl<'b, 'c> Pass<'_, 'b, 'c> {
    /// The name of a phase.
    pub fn name(&self, step: &str) -> String {
        format!("sort.{step}{}", self.digit)
    }

    /// Whether keys of one digit may come in any order: later passes sort them, and
    /// keys that stay equal are indistinguishable.
    pub fn in_any_order(&self) -> bool {
        let Sort { order, end_bit, .. } = self.sort;
        self.is_first && self.from.values.is_none() && *end_bit == order.width()
    }

    /// Key `i`, mapped.
    pub fn key(&self, i: V<'b, 'c>) -> V<'b, 'c> {
        let key = self.from.keys.at(i);
        match self.is_first {
            true => self.sort.order.map(key),
            false => key.bitcast(self.b.int_type(self.sort.order.width())),
        }
    }

    /// This pass's digit of a mapped key, `i32`.
    pub fn digit_of(&self, key: V<'b, 'c>) -> V<'b, 'c> {
        digit(key, self.digit)
    }

    /// Writes a mapped key to its place.
    pub fn put_key(&self, position: V<'b, 'c>, key: V<'b, 'c>) {
        let key = match self.is_last {
            true => self.sort.order.unmap(key),
            false => key,
        };
        self.to.keys.set(position, key);
    }

    /// Moves the values of element `i`, if there are any.
    pub fn put_values(&self, position: V<'b, 'c>, i: V<'b, 'c>) {
        self.to.copy_values(position, self.from, i);
    }

    /// Moves element `i`, whose mapped key has been loaded.
    pub fn put(&self, position: V<'b, 'c>, key: V<'b, 'c>, i: V<'b, 'c>) {
        self.put_key(position, key);
        self.put_values(position, i);
    }
}
