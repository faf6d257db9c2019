//! A scan in two passes over long chunks, for few cores.
//!
//! 1. *Up*: each block reduces its chunk.
//! 2. *Last*: each block combines what the chunks before its own came to, and
//!    scans its chunk tile by tile, carrying the total along.
//!
//! Between them, if the total of all is needed before the last phase, one block
//! combines what the chunks came to.
//!
//! Papers: the reduce-then-scan of Harris, Sengupta & Owens, GPU Gems 3, ch. 39,
//! with chunks as long as the work of a core: Merrill & Grimshaw, Parallel Scan
//! for Stream Architectures (2009).
//! Deviations: the scan of the chunks' sums is not a pass of its own: each block
//! needs one element of it, of at most 256.
//! Cost: reads the input twice. 2 phases, or 1 where the capacity is one chunk;
//! and one more for a total before the last.

use super::{Element, Sweep, Total};
use crate::algorithms::{
    chunks::{self, Chunk},
    levels::{BLOCK, Levels, load_or_identity},
};
use qd_dialects::builder::V;

impl<'b, 'c> Sweep<'_, 'b, 'c> {
    pub(super) fn chunked(&self, last: &dyn Fn(&Element<'b, 'c>)) {
        let b = self.b;
        let one = chunks::is_one(self.depth);
        let blocks = match (one, self.total.is_used()) {
            (true, _) => b.index(1),
            (_, true) => chunks::most(self.capacity).max(1),
            (_, false) => chunks::most(self.capacity),
        };
        let before = matches!(self.total, Total::Before(_));
        let phase = |step: &str, blocks, body: &dyn Fn()| {
            b.phase(&format!("{}.{step}", self.name), blocks, BLOCK, body);
        };
        if !one || before {
            phase("up", blocks, &|| self.chunk_up());
        }
        if let (Total::Before(store), false) = (self.total, one) {
            phase("top", b.index(1), &|| self.combine_chunks(store));
        }
        phase("last", blocks, &|| self.chunk_last(last));
    }

    fn chunk(&self) -> (Chunk<'b, 'c>, Levels<'b, 'c>) {
        let chunk = Chunk::of(self.b, (self.count)());
        (chunk, Levels::with_one_above(chunk.count, chunk.number))
    }

    /// Reduces the chunks.
    fn chunk_up(&self) {
        let b = self.b;
        let (chunk, levels) = self.chunk();
        b.if_(chunk.any(self.total.is_used()), || {
            let sum = chunk.reduce(self.combiner, self.load);
            b.if_(b.thread_id().eq(0), || {
                let several = chunk.number.gt(1);
                let store = || (self.partials)().store(&levels, 1, b.block_id(), &sum);
                match self.total {
                    Total::Before(total) => b.either(several, store, || total(&sum)),
                    _ => b.if_(several, store),
                }
            });
        });
    }

    /// Combines what the first `number` chunks came to, by all threads.
    fn combined(&self, op: &str, levels: &Levels<'b, 'c>, number: V<'b, 'c>) -> Vec<V<'b, 'c>> {
        let t = self.b.thread_id();
        let sums = load_or_identity(self.b, self.combiner, t.lt(number), || {
            (self.partials)().load(levels, 1, t, self.combiner)
        });
        self.b.combine(op, self.combiner, sums)
    }

    /// Stores what all chunks came to, unless there is only one.
    fn combine_chunks(&self, store: &dyn Fn(&[V<'b, 'c>])) {
        let b = self.b;
        let (chunk, levels) = self.chunk();
        b.if_(chunk.number.gt(1), || {
            let total = self.combined("block.reduce", &levels, chunk.number);
            b.if_(b.thread_id().eq(0), || store(&total));
        });
    }

    /// Scans the chunks.
    fn chunk_last(&self, last: &dyn Fn(&Element<'b, 'c>)) {
        let b = self.b;
        let (combiner, t) = (self.combiner, b.thread_id());
        let types = combiner.types().iter();
        let tile_sums: Vec<_> = types.map(|r#type| b.shared(*r#type, BLOCK)).collect();
        let (chunk, levels) = self.chunk();
        b.if_(chunk.any(self.total.is_used()), || {
            let before = match chunks::is_one(self.depth) {
                true => combiner.identity(b),
                false => self.combined("block.reduce_all", &levels, b.block_id()),
            };
            let total = chunk.for_tiles(before, |i, exists, before| {
                let value = load_or_identity(b, combiner, exists, || (self.load)(i));
                let within = b.combine(self.block_scan(), combiner, value.clone());
                let upto = match self.inclusive {
                    true => within.clone(),
                    false => combiner.apply(b, &within, &value),
                };
                for (sum, value) in tile_sums.iter().zip(&upto) {
                    sum.set(t, *value);
                }
                last(&Element {
                    i,
                    exists,
                    count: chunk.count,
                    scanned: combiner.apply(b, &before, &within),
                    value,
                    total: None,
                });
                b.sync();
                let end = b.index(BLOCK - 1);
                let tile: Vec<_> = tile_sums.iter().map(|sum| sum.at(end)).collect();
                b.sync();
                combiner.apply(b, &before, &tile)
            });
            if let Total::AtTheEnd(store) = self.total {
                let one = chunk.is_last() & t.eq(0);
                b.if_(one, || store(&total));
            }
        });
    }
}
