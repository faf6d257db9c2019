//! The geometry of hierarchical strategies: a tree of fixed depth with 256 branches.
//!
//! Each block combines 256 elements of a level into one element of the next: `t₀ = n`,
//! `tᵢ₊₁ = ⌈tᵢ / 256⌉`. A capacity of `256^D` fixes the number of levels, D, at
//! compile time. The live count decides on the device how long each level is, so upper
//! levels may have at most one element and nothing to do.
//!
//! The same arithmetic is done on the host from the capacity, for the grids, and on
//! the device from the live count, for bounds and addresses: offsets into scratch
//! depend on the live count and never on the capacity.

use qd_dialects::builder::{Builder, Combiner, V};

/// Threads of a block, and elements that one block combines.
pub(super) const BLOCK: i64 = 256;

/// Number of tiles that `elements` make.
pub(super) fn tiles<'b, 'c>(elements: V<'b, 'c>) -> V<'b, 'c> {
    (elements + (BLOCK - 1)) / BLOCK
}

/// How many elements an algorithm is for.
#[derive(Clone, Copy)]
pub(super) struct Count<'b, 'c> {
    /// The largest possible count: `256^D`, or the length of the shortest buffer if
    /// that is less. Evaluated on the host.
    pub capacity: V<'b, 'c>,
    count: V<'b, 'c>,
    /// The capacity in the type of the count.
    limit: V<'b, 'c>,
}

impl<'b, 'c> Count<'b, 'c> {
    /// From the buffer that holds the count, for an algorithm of this depth and for
    /// buffers with one slot an element.
    pub fn new(
        b: &'b Builder<'c>,
        count: V<'b, 'c>,
        depth: u32,
        buffers: impl IntoIterator<Item = V<'b, 'c>>,
    ) -> Self {
        let most = b.index(BLOCK.pow(depth));
        let lengths = buffers.into_iter().map(V::len);
        let capacity = lengths.fold(most, |least, length| length.min(least));
        Self {
            capacity,
            count,
            limit: b.count_limit(count, capacity),
        }
    }

    /// The capacity in the type of the count.
    pub fn limit(&self) -> V<'b, 'c> {
        self.limit
    }

    /// The live count, in a phase. It is clamped to 0 and the capacity, whatever the
    /// device's buffer holds.
    pub fn live(&self) -> V<'b, 'c> {
        self.count.builder().live_count(self.count, self.limit)
    }
}

/// The counts of all levels, from the host's capacity or from the device's live count.
#[derive(Clone)]
pub(super) struct Levels<'b, 'c> {
    counts: Vec<V<'b, 'c>>,
}

impl<'b, 'c> Levels<'b, 'c> {
    /// Of a tree over `elements`, up to and including level `top`.
    pub fn new(elements: V<'b, 'c>, top: usize) -> Self {
        Self::of_tiles(elements, top, tiles)
    }

    /// The same, of tiles of another size: `tiles` are those that elements make.
    pub fn of_tiles(
        elements: V<'b, 'c>,
        top: usize,
        tiles: impl Fn(V<'b, 'c>) -> V<'b, 'c>,
    ) -> Self {
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

    /// Where a level above the input begins, if the levels are stored one after the
    /// other.
    pub fn offset(&self, level: usize) -> V<'b, 'c> {
        let b = self.counts[0].builder();
        let below = &self.counts[1..level];
        below.iter().fold(b.index(0), |sum, count| sum + *count)
    }
}

/// The values of an element, or neutral values in threads beyond the last one: all
/// threads take part in a collective.
pub(super) fn load_or_neutral<'b, 'c>(
    b: &'b Builder<'c>,
    combiner: &Combiner<'c>,
    exists: V<'b, 'c>,
    load: impl FnOnce() -> Vec<V<'b, 'c>>,
) -> Vec<V<'b, 'c>> {
    b.if_else(exists, load, || combiner.neutral(b))
}

/// The combination of the threads of the block below this one; a neutral value in
/// thread 0.
pub(super) fn combine_below<'b, 'c>(
    b: &'b Builder<'c>,
    combiner: &Combiner<'c>,
    values: Vec<V<'b, 'c>>,
) -> Vec<V<'b, 'c>> {
    let below = b.combine("block.exclusive_scan", combiner, values);
    match combiner.identity_is_neutral() {
        true => below,
        false => choose(b.thread_id().eq(0), combiner.neutral(b), below),
    }
}

/// The combination of some elements: the identity if there are none, where `combined`
/// is a neutral value.
pub(super) fn identity_if<'b, 'c>(
    none: impl FnOnce() -> V<'b, 'c>,
    combiner: &Combiner<'c>,
    combined: &[V<'b, 'c>],
) -> Vec<V<'b, 'c>> {
    match combiner.identity_is_neutral() {
        true => combined.to_vec(),
        false => {
            let none = none();
            choose(none, combiner.identity(none.builder()), combined.to_vec())
        }
    }
}

fn choose<'b, 'c>(
    condition: V<'b, 'c>,
    values: Vec<V<'b, 'c>>,
    others: Vec<V<'b, 'c>>,
) -> Vec<V<'b, 'c>> {
    let pairs = values.into_iter().zip(others);
    pairs
        .map(|(value, other)| condition.select(value, other))
        .collect()
}
