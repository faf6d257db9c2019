//! Reduce by a tree of fixed depth. Portable: no block waits for another.
//!
//! Phase `i` of D combines level `i`, 256 elements a block, into level `i + 1`
//! in scratch. The phase whose result is a single element writes it to the
//! output; the phases above it do nothing.
//!
//! Paper: the tree is the up-sweep of Blelloch, Prefix Sums and Their
//! Applications (1990), with 256 branches.
//! Deviations: one element a thread, as the formula for scratch requires; order
//! is kept, so the combiner need not commute.
//! Cost: reads each element once; 1/256 of that again for each level above. D
//! phases.

use super::Reduce;
use crate::algorithms::{
    fixed_order,
    levels::{BLOCK, Levels, load_or_neutral},
    partials::Partials,
};
use qd_dialects::{builder::Builder, diagnostic::Result, ir::Op};

/// Builds D phases.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let reduce = Reduce::of(b, op);
    fixed_order::refuse(op, &reduce.combiner, "hierarchical")?;
    let depth = reduce.depth as usize;
    let grids = Levels::new(reduce.count.capacity, depth);
    for level in 0..depth {
        // The last level is a single element. It exists even for an empty
        // input: the result is then the identity.
        let blocks = match level + 1 == depth {
            true => b.index(1),
            false => grids.count(level + 1).max(1),
        };
        b.phase(&format!("reduce.{level}"), blocks, BLOCK, || {
            reduce_level(b, &reduce, level);
        });
    }
    Ok(())
}

fn reduce_level<'b, 'c>(b: &'b Builder<'c>, reduce: &Reduce<'b, 'c>, level: usize) {
    let combiner = &reduce.combiner;
    let partials = Partials::Separate(reduce.scratch.clone());
    let levels = Levels::new(reduce.count.live(), level + 1);
    let elements = levels.count(level);
    let tile = b.block_id() * BLOCK;
    let any = match level {
        0 => tile.lt(elements.max(1)),
        _ => elements.gt(1) & tile.lt(elements),
    };
    b.if_(any, || {
        let i = tile + b.thread_id();
        let values = load_or_neutral(b, combiner, i.lt(elements), || match level {
            0 => reduce.inputs.iter().map(|input| input.at(i)).collect(),
            _ => partials.load(&levels, level, i, combiner),
        });
        let sum = b.combine("block.reduce", combiner, values);
        b.if_(b.thread_id().eq(0), || {
            if level + 1 == reduce.depth as usize {
                return reduce.write(levels.count(0), &sum);
            }
            b.either(
                levels.count(level + 1).gt(1),
                || partials.store(&levels, level + 1, b.block_id(), &sum),
                || reduce.write(levels.count(0), &sum),
            );
        });
    });
}
