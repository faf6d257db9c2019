//! The geometry of a staircase: a tree of fixed depth with 256 branches.
//!
//! A level's elements are combined 256 at a time, by one block each, into the
//! elements of the next: `t₀ = n`, `tᵢ₊₁ = ⌈tᵢ / 256⌉`. A capacity of `256^D`
//! fixes the number of levels, D, at compile time; the live count decides on
//! the device how much of each there is, so that upper levels may be trivial,
//! of at most one element, and then have nothing left to do.
//!
//! The same arithmetic is done on the host from the capacity, for the grids,
//! and on the device from the live count, for bounds and addresses: scratch
//! is addressed by what the live count needs and never by the capacity.

use qd_dialects::builder::{Builder, Combiner, V};

/// Threads of a block, and elements that one block combines.
pub(super) const BLOCK: i64 = 256;

/// Number of tiles that `elements` make.
pub(super) fn tiles<'b, 'c>(elements: V<'b, 'c>) -> V<'b, 'c> {
    (elements + (BLOCK - 1)) / BLOCK
}

/// The most elements there can be: `256^D`, or the length of a buffer if that
/// is less. Evaluated by the host.
pub(super) fn capacity<'b, 'c>(b: &'b Builder<'c>, depth: u32, buffer: V<'b, 'c>) -> V<'b, 'c> {
    buffer.len().min(b.index(BLOCK.pow(depth)))
}

/// The counts of all levels, of the host's capacity or of the device's live
/// count.
#[derive(Clone)]
pub(super) struct Levels<'b, 'c> {
    counts: Vec<V<'b, 'c>>,
}

impl<'b, 'c> Levels<'b, 'c> {
    /// Of a tree over `elements`, up to and including level `top`.
    pub fn new(elements: V<'b, 'c>, top: usize) -> Self {
        let mut counts = vec![elements];
        for level in 0..top {
            counts.push(tiles(counts[level]));
        }
        Self { counts }
    }

    /// Of an input and a single level above it, which has this many elements.
    pub fn with_one_above(elements: V<'b, 'c>, above: V<'b, 'c>) -> Self {
        Self {
            counts: vec![elements, above],
        }
    }

    /// Elements of a level; level 0 is the input.
    pub fn count(&self, level: usize) -> V<'b, 'c> {
        self.counts[level]
    }

    /// Where a level above the input begins, if they stand one behind the
    /// other.
    pub fn offset(&self, level: usize) -> V<'b, 'c> {
        let b = self.counts[0].builder();
        let below = &self.counts[1..level];
        below.iter().fold(b.index(0), |sum, count| sum + *count)
    }
}

/// The values of an element, or the identity for threads beyond the last one:
/// what a collective needs, in which all threads take part.
pub(super) fn load_or_identity<'b, 'c>(
    b: &'b Builder<'c>,
    combiner: &Combiner<'c>,
    exists: V<'b, 'c>,
    load: impl FnOnce() -> Vec<V<'b, 'c>>,
) -> Vec<V<'b, 'c>> {
    b.if_else(exists, load, || combiner.identity(b))
}
