//! Reduce by a tree of fixed depth. Portable: no block waits for another.
//!
//! Phase `i` of D combines level `i`, 256 elements a block, into level `i + 1`
//! in scratch. The phase whose result is a single element writes it to the
//! output, and the phases above it find nothing to do.
//!
//! Paper: the tree is Blelloch's up-sweep (Prefix Sums and Their Applications,
//! 1990) with 256 branches.
//! Deviations: one element a thread, as the formula for scratch demands; order
//! is kept, so the combiner need not commute.
//! Cost: reads each element once; 1/256 of that again for each level above.

use super::Reduce;
use crate::algorithms::levels::{BLOCK, Levels, capacity};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::Op,
};

/// Builds D phases.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let reduce = Reduce::of(b, op);
    let depth = reduce.depth as usize;
    let grids = Levels::new(capacity(b, reduce.depth, reduce.inputs[0]), depth);
    for level in 0..depth {
        // The last level is a single element, and there is a result, the
        // identity, even of no elements at all.
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
    let Reduce {
        inputs,
        outputs,
        scratch,
        combiner,
        ..
    } = reduce;
    let levels = Levels::new(b.live_count(reduce.count), level + 1);
    let elements = levels.count(level);
    let tile = b.block_id() * BLOCK;
    let work = if level == 0 {
        tile.lt(elements.max(1))
    } else {
        elements.gt(1) & tile.lt(elements)
    };
    b.if_(work, || {
        let i = tile + b.thread_id();
        let load = || match level {
            0 => inputs.iter().map(|input| input.at(i)).collect(),
            _ => {
                let slot = levels.offset(level) + i;
                let typed = scratch.iter().zip(combiner.types());
                typed.map(|(s, r#type)| s.at_as(slot, *r#type)).collect()
            }
        };
        let values: Vec<_> = b.if_else(i.lt(elements), load, || combiner.identity(b));
        let tile_result = b.combine("block.reduce", combiner, values);

        b.if_(b.thread_id().eq(0), || {
            let store = |buffers: &[V<'b, 'c>], at| {
                for (buffer, value) in buffers.iter().zip(&tile_result) {
                    buffer.set(at, *value);
                }
            };
            let finish = || store(outputs, b.index(0));
            if level + 1 == reduce.depth as usize {
                return finish();
            }
            b.either(levels.count(level + 1).le(1), finish, || {
                store(scratch, levels.offset(level + 1) + b.block_id());
            });
        });
    });
}
