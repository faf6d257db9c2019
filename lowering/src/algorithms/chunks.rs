//! The geometry of chunks: each block takes one long stretch of the input and
//! goes through it tile by tile.
//!
//! For few cores: a chunk is long enough to pay for handing it to a core, and
//! there are at most as many as a block has threads, so that one block combines
//! what all of them come to. Threads stay next to each other in memory, which is
//! what vectorises.
//!
//! A chunk has at least 65,536 elements, so that what the chunks come to takes
//! no more scratch than what the tiles of a staircase do.

use super::levels::{BLOCK, load_or_identity};
use qd_dialects::builder::{Builder, Combiner, V, Values};

/// Elements of a chunk, at least.
const LEAST: i64 = 1 << 16;
/// Chunks, at most.
const MOST: i64 = BLOCK;
/// Tiles that a commutative reduction takes at a time.
const UNROLLED: i64 = 4;

/// Whether an input of this depth's capacity is always a single chunk.
pub(super) fn is_one(depth: u32) -> bool {
    BLOCK.pow(depth) <= LEAST
}

/// The most chunks that this many elements make. Evaluated by the host.
pub(super) fn most<'b, 'c>(capacity: V<'b, 'c>) -> V<'b, 'c> {
    let b = capacity.builder();
    ((capacity + (LEAST - 1)) / LEAST).min(b.index(MOST))
}

/// The stretch of the input that this block takes.
#[derive(Clone, Copy)]
pub(super) struct Chunk<'b, 'c> {
    b: &'b Builder<'c>,
    /// The live number of elements.
    pub count: V<'b, 'c>,
    /// The live number of chunks.
    pub number: V<'b, 'c>,
    /// The first element. Beyond the last one if the block has no chunk.
    pub start: V<'b, 'c>,
    /// Behind the last element.
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

    /// Whether this block has a chunk; with `even_if_empty`, the first one has
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

    /// Goes through the chunk tile by tile. `body` has this thread's element,
    /// whether there is one, and what is carried along; collectives are legal in
    /// it. It is built twice: for whole tiles, where every thread has an element
    /// and the predicate is constant, and for the rest.
    pub fn for_tiles<T: Values<'b, 'c> + Clone>(
        &self,
        carried: T,
        body: impl Fn(V<'b, 'c>, V<'b, 'c>, T) -> T,
    ) -> T {
        let whole = self.start + (self.end - self.start) / BLOCK * BLOCK;
        self.for_tiles_to(self.start, whole, carried, &body)
    }

    fn for_tiles_to<T: Values<'b, 'c> + Clone>(
        &self,
        from: V<'b, 'c>,
        whole: V<'b, 'c>,
        carried: T,
        body: &dyn Fn(V<'b, 'c>, V<'b, 'c>, T) -> T,
    ) -> T {
        let b = self.b;
        let t = b.thread_id();
        let carried = b.for_(from, whole, b.index(BLOCK), carried, |tile, carried| {
            body(tile + t, b.bool(true), carried)
        });
        let rest = carried.clone();
        b.if_else(
            whole.lt(self.end),
            || body(whole + t, (whole + t).lt(self.end), rest),
            || carried,
        )
    }

    /// Combines the chunk's elements, to thread 0.
    ///
    /// If the combiner commutes, each thread combines those a tile apart from
    /// each other, and the threads' results are combined at the end; otherwise
    /// the tiles are combined one by one.
    pub fn reduce(
        &self,
        combiner: &Combiner<'c>,
        load: &dyn Fn(V<'b, 'c>) -> Vec<V<'b, 'c>>,
    ) -> Vec<V<'b, 'c>> {
        let b = self.b;
        if !combiner.is_commutative() {
            return self.for_tiles(combiner.identity(b), |i, exists, sum| {
                let values = load_or_identity(b, combiner, exists, || load(i));
                let tile = b.combine("block.reduce_all", combiner, values);
                combiner.apply(b, &sum, &tile)
            });
        }
        let step = UNROLLED * BLOCK;
        let several = self.start + (self.end - self.start) / step * step;
        let t = b.thread_id();
        let (start, step) = (self.start, b.index(step));
        let sums = b.for_(start, several, step, combiner.identity(b), |tile, sums| {
            let values = (0..UNROLLED).map(|nth| load(tile + nth * BLOCK + t));
            let four = values.reduce(|left, right| combiner.apply(b, &left, &right));
            combiner.apply(b, &sums, &four.unwrap_or_default())
        });
        let whole = several + (self.end - several) / BLOCK * BLOCK;
        let sums = self.for_tiles_to(several, whole, sums, &|i, exists, sums: Vec<_>| {
            let values = load_or_identity(b, combiner, exists, || load(i));
            combiner.apply(b, &sums, &values)
        });
        b.combine("block.reduce", combiner, sums)
    }
}
