//! The geometry of chunks: each block takes one long, contiguous part of the
//! input and goes through it tile by tile.
//!
//! Chunks are for latency-oriented targets: a chunk is long enough to pay for
//! handing it to a core, and there are at most as many as a block has threads,
//! so that one block combines their aggregates. Where a block's threads work
//! together, they load consecutive elements, so that the loop over threads
//! vectorises.
//!
//! A chunk has at least 65,536 elements, so that the aggregates of chunks take
//! no more scratch than those of the hierarchical strategy's tiles.

use super::levels::{BLOCK, Levels, load_or_neutral};
use qd_dialects::builder::{Builder, Combiner, V, Values};

/// Elements of a chunk, at least.
const LEAST: i64 = 1 << 16;
/// Elements that an unrolled loop takes in each iteration.
const UNROLLED: i64 = 8;
/// Chunks, at most.
const MOST: i64 = BLOCK;

/// Whether an input of this depth's capacity is always a single chunk.
pub(super) fn is_one(depth: u32) -> bool {
    BLOCK.pow(depth) <= LEAST
}

/// The most chunks that this many elements make. Evaluated on the host.
pub(super) fn most<'b, 'c>(capacity: V<'b, 'c>) -> V<'b, 'c> {
    let b = capacity.builder();
    ((capacity + (LEAST - 1)) / LEAST).min(b.index(MOST))
}

/// The part of the input that this block takes.
#[derive(Clone, Copy)]
pub(super) struct Chunk<'b, 'c> {
    b: &'b Builder<'c>,
    /// The live number of elements.
    pub count: V<'b, 'c>,
    /// The live number of chunks.
    pub number: V<'b, 'c>,
    /// The first element; past the last one if the block has no chunk.
    pub start: V<'b, 'c>,
    /// The end of the chunk: one past its last element.
    pub end: V<'b, 'c>,
}

impl<'b, 'c> Chunk<'b, 'c> {
    /// Of `count` elements.
    pub fn of(b: &'b Builder<'c>, count: V<'b, 'c>) -> Self {
        const TILES: i64 = MOST * BLOCK;
        let length = ((count + (TILES - 1)) / TILES * BLOCK).max(LEAST);
        let start = b.block_id() * length;
        Self {
            b,
            count,
            number: (count + (length - 1)) / length,
            start,
            end: (start + length).min(count),
        }
    }

    /// The elements, and above them the aggregates of the chunks.
    pub fn levels(&self) -> Levels<'b, 'c> {
        Levels::with_one_above(self.count, self.number)
    }

    /// Whether this block has a chunk. With `even_if_empty`, the first block has
    /// an empty chunk where there are no elements.
    pub fn any(&self, even_if_empty: bool) -> V<'b, 'c> {
        match even_if_empty {
            true => self.start.lt(self.count.max(1)),
            false => self.start.lt(self.count),
        }
    }

    /// Whether it is the last one.
    pub fn is_last(&self) -> V<'b, 'c> {
        self.end.eq(self.count)
    }

    /// Goes through the chunk in order with a loop-carried value. For one
    /// thread.
    ///
    /// Each iteration depends on the one before. More threads would not shorten
    /// that chain, since they take turns on one core.
    pub fn in_order<T: Values<'b, 'c>>(
        &self,
        initial: T,
        each: impl FnOnce(V<'b, 'c>, T) -> T,
    ) -> T {
        let step = self.b.index(1);
        self.b.for_(self.start, self.end, step, initial, each)
    }

    /// The same, unrolled, for a body that is no longer than the loop's own
    /// overhead.
    pub fn in_order_unrolled<T: Values<'b, 'c>>(
        &self,
        initial: T,
        each: &dyn Fn(V<'b, 'c>, T) -> T,
    ) -> T {
        let b = self.b;
        let whole = self.start + (self.end - self.start) / UNROLLED * UNROLLED;
        let step = b.index(UNROLLED);
        let carried = b.for_(self.start, whole, step, initial, |i, carried| {
            (0..UNROLLED).fold(carried, |carried, nth| each(i + nth, carried))
        });
        b.for_(whole, self.end, b.index(1), carried, each)
    }

    /// Combines the chunk's elements in order. For one thread.
    pub fn fold(
        &self,
        combiner: &Combiner<'c>,
        load: &dyn Fn(V<'b, 'c>) -> Vec<V<'b, 'c>>,
    ) -> Vec<V<'b, 'c>> {
        self.in_order(combiner.neutral(self.b), |i, sum| {
            combiner.apply(self.b, &sum, &load(i))
        })
    }

    /// Combines the chunk's elements; thread 0 has the result.
    ///
    /// If the combiner commutes, each thread combines elements a tile apart (a
    /// striped arrangement), and the threads' results are combined at the end.
    pub fn reduce(
        &self,
        combiner: &Combiner<'c>,
        load: &dyn Fn(V<'b, 'c>) -> Vec<V<'b, 'c>>,
        done: impl FnOnce(Vec<V<'b, 'c>>),
    ) {
        let b = self.b;
        let t = b.thread_id();
        if !combiner.is_commutative() {
            return b.if_(t.eq(0), || done(self.fold(combiner, load)));
        }
        let whole = self.start + (self.end - self.start) / BLOCK * BLOCK;
        let (step, nothing) = (b.index(BLOCK), combiner.neutral(b));
        let sums = b.for_(self.start, whole, step, nothing, |tile, sums| {
            combiner.apply(b, &sums, &load(tile + t))
        });
        let i = whole + t;
        let rest = load_or_neutral(b, combiner, i.lt(self.end), || load(i));
        let sums = combiner.apply(b, &sums, &rest);
        let sum = b.combine("block.reduce", combiner, sums);
        b.if_(t.eq(0), || done(sum));
    }
}
