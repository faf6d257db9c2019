//! Reduce in one pass over long chunks, for latency-oriented targets.
//!
//! 1. Each block reduces its chunk.
//! 2. One block combines the chunks' aggregates.
//!
//! Within a chunk each thread combines elements a tile apart, so that neighbouring
//! threads read consecutive elements and the loop over threads vectorises. With a
//! combiner that need not commute, one thread goes through the chunk in order.
//!
//! Deviations from the hierarchical strategy: the tree is that of the chunks and threads,
//! which the count alone determines.
//! Cost: reads each element once. 2 phases, or 1 where the capacity is one chunk.

use super::Reduce;
use crate::algorithms::{
    chunks::{self, Chunk},
    fixed_order,
    levels::{BLOCK, load_or_neutral},
    partials::Partials,
};
use qd_dialects::{builder::Builder, diagnostic::Result, ir::Op};

/// Builds at most 2 phases.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let reduce = Reduce::of(b, op);
    fixed_order::refuse(op, &reduce.combiner, "chunked")?;
    let one = chunks::is_one(reduce.depth);
    let blocks = match one {
        true => b.index(1),
        false => chunks::most(reduce.count.capacity).max(1),
    };
    b.phase("reduce.chunks", blocks, BLOCK, || reduce_chunk(b, &reduce));
    if !one {
        b.phase("reduce.last", b.index(1), BLOCK, || {
            combine_chunks(b, &reduce);
        });
    }
    Ok(())
}

fn reduce_chunk<'b, 'c>(b: &'b Builder<'c>, reduce: &Reduce<'b, 'c>) {
    let chunk = Chunk::of(b, reduce.count.live());
    let partials = Partials::Separate(reduce.scratch.clone());
    b.if_(chunk.any(true), || {
        let load = |i| reduce.inputs.iter().map(|input| input.at(i)).collect();
        chunk.reduce(&reduce.combiner, &load, |sum| {
            b.either(
                chunk.number.gt(1),
                || partials.store(&chunk.levels(), 1, b.block_id(), &sum),
                || reduce.write(chunk.count, &sum),
            );
        });
    });
}

fn combine_chunks<'b, 'c>(b: &'b Builder<'c>, reduce: &Reduce<'b, 'c>) {
    let chunk = Chunk::of(b, reduce.count.live());
    let partials = Partials::Separate(reduce.scratch.clone());
    b.if_(chunk.number.gt(1), || {
        let t = b.thread_id();
        let sums = load_or_neutral(b, &reduce.combiner, t.lt(chunk.number), || {
            partials.load(&chunk.levels(), 1, t, &reduce.combiner)
        });
        let total = b.combine("block.reduce", &reduce.combiner, sums);
        b.if_(t.eq(0), || reduce.write(chunk.count, &total));
    });
}
