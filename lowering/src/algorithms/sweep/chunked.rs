//! A scan in two passes over long chunks, for latency-oriented targets.
//!
//! 1. *Up*: each block reduces its chunk.
//! 2. *Last*: each block combines the aggregates of the chunks before its own,
//!    and scans its chunk in order.
//!
//! Between them, if the total is needed before the last phase, one block
//! combines the aggregates of all chunks. A single chunk needs neither phase.
//!
//! Papers: the reduce-then-scan of Harris, Sengupta & Owens, GPU Gems 3, ch. 39,
//! with chunks as long as the work of a core: Merrill & Grimshaw, Parallel Scan
//! for Stream Architectures (2009).
//! Deviations: the scan of the chunks' sums is not a pass of its own: each block
//! needs one element of it, of at most 256. Within a chunk one thread works.
//! Cost: reads the input twice. 2 phases, or 3 with a total before the last; 1
//! where the capacity is one chunk.

use super::{Element, Sweep, Total};
use crate::algorithms::{
    chunks::{self, Chunk},
    levels::BLOCK,
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
        let phase = |step: &str, blocks, body: &dyn Fn()| {
            b.phase(&format!("{}.{step}", self.name), blocks, BLOCK, body);
        };
        if !one {
            phase("up", blocks, &|| self.chunk_up());
        }
        if let (Total::Before(store), false) = (self.total, one) {
            phase("top", b.index(1), &|| self.combine_chunks(store));
        }
        phase("last", blocks, &|| self.chunk_last(last));
    }

    fn chunk(&self) -> Chunk<'b, 'c> {
        Chunk::of(self.b, (self.count)())
    }

    /// Reduces the chunks.
    fn chunk_up(&self) {
        let chunk = self.chunk();
        self.b.if_(chunk.any(self.total.is_used()), || {
            chunk.reduce(self.combiner, self.load, |sum| {
                let several = chunk.number.gt(1);
                let store = || (self.partials)().store(&chunk.levels(), 1, self.b.block_id(), &sum);
                match self.total {
                    Total::Before(total) => self.b.either(several, store, || total(&sum)),
                    _ => self.b.if_(several, store),
                }
            });
        });
    }

    /// Stores the combination of all chunks' aggregates, unless there is only
    /// one chunk.
    fn combine_chunks(&self, store: &dyn Fn(&[V<'b, 'c>])) {
        let b = self.b;
        let chunk = self.chunk();
        b.if_(b.thread_id().eq(0) & chunk.number.gt(1), || {
            store(&self.combined(&chunk, chunk.number));
        });
    }

    /// Combines the aggregates of the first `number` chunks.
    fn combined(&self, chunk: &Chunk<'b, 'c>, number: V<'b, 'c>) -> Vec<V<'b, 'c>> {
        let (b, combiner) = (self.b, self.combiner);
        let partials = (self.partials)();
        let (zero, one) = (b.index(0), b.index(1));
        b.for_(zero, number, one, combiner.neutral(b), |nth, sum| {
            combiner.apply(b, &sum, &partials.load(&chunk.levels(), 1, nth, combiner))
        })
    }

    /// Scans the chunks.
    fn chunk_last(&self, last: &dyn Fn(&Element<'b, 'c>)) {
        let (b, combiner) = (self.b, self.combiner);
        let chunk = self.chunk();
        let one = chunks::is_one(self.depth);
        let any = chunk.any(self.total.is_used());
        b.if_(any & b.thread_id().eq(0), || {
            let total = match self.total {
                Total::Before(store) if one => {
                    let total = chunk.fold(combiner, self.load);
                    store(&total);
                    Some(total)
                }
                _ => None,
            };
            let before = match one {
                true => combiner.neutral(b),
                false => self.combined(&chunk, b.block_id()),
            };
            let each = |i, before: Vec<V<'b, 'c>>| {
                let value = (self.load)(i);
                let upto = combiner.apply(b, &before, &value);
                last(&Element {
                    i,
                    exists: b.bool(true),
                    count: chunk.count,
                    value,
                    scanned: if self.inclusive { upto.clone() } else { before },
                    total: total.clone(),
                });
                upto
            };
            let end = match combiner.as_kind() {
                Some(_) => chunk.in_order_unrolled(before, &each),
                None => chunk.in_order(before, each),
            };
            if let Total::AtTheEnd(store) = self.total {
                b.if_(chunk.is_last(), || store(&end));
            }
        });
    }
}
