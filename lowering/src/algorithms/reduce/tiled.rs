//! Reduce with several elements a thread, in one pass and a short one.
//!
//! 1. *Tiles*: each block goes through a stretch of tiles and writes what that
//!    comes to.
//! 2. *Last*: one block combines the blocks' results.
//!
//! A thread combines what it has of a tile as a tree, and that with what it had of
//! those before; the threads' results are combined at the end. With a combiner
//! that need not commute a thread has neighbours of each tile, exchanged in
//! shared memory, and the block combines tile by tile.
//!
//! Papers: Harris, Optimizing Parallel Reduction in CUDA (2007): several elements
//! a thread before any tree of threads.
//! Deviations: stretches are contiguous, of at most 512 blocks, so that order is
//! kept and the tree is fixed by the count alone.
//! Cost: reads each element once. 2 phases, or 1 for a capacity of 256.

use super::{Reduce, staircase};
use crate::{
    algorithms::{
        levels::BLOCK,
        levels::{Levels, capacity, load_or_identity},
        partials::Partials,
        tiles::{SHARED_BYTES, Tiles, bytes},
    },
    targets::{Capabilities, Cores, tuning::Tuning},
};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::Op,
    melior::ir::Type,
};

/// Blocks, at most: as many as one block combines, two a thread.
const MOST: i64 = 2 * BLOCK;

/// Bytes of an element that a thread holds, at most, for a tile to fit a block's
/// shared memory.
const MOST_BYTES: i64 = 32;

/// Whether this is the way to reduce scalars of these types.
pub(super) fn suits(types: &[Type], capabilities: &Capabilities) -> bool {
    capabilities.cores == Cores::Many
        && capabilities.max_shared_bytes >= SHARED_BYTES
        && bytes(types) <= MOST_BYTES
}

/// Builds at most 2 phases.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>, capabilities: &Capabilities) -> Result<'c> {
    let reduce = Reduce::of(b, op);
    let bytes = bytes(reduce.combiner.types());
    if bytes > MOST_BYTES {
        return Err(Diagnostic::at(
            op,
            format!(
                "combines elements of {bytes} bytes: strategy 'tiled' is for {MOST_BYTES} at most"
            ),
        ));
    }
    if reduce.depth == 1 {
        return staircase::expand(b, op);
    }
    let tuning = Tuning::of(op, "reduce", bytes, capabilities)?;
    let tiled = Tiled {
        b,
        tiles: Tiles::new(b, &tuning),
        reduce,
    };
    let capacity = capacity(b, tiled.reduce.depth, tiled.reduce.inputs[0]);
    let blocks = tiled.tiles.number(capacity).min(MOST).max(1);
    tuning.phase(b, "reduce.tiles", blocks, || tiled.reduce_stretch());
    b.phase("reduce.last", b.index(1), BLOCK, || tiled.combine());
    Ok(())
}

struct Tiled<'b, 'c> {
    b: &'b Builder<'c>,
    reduce: Reduce<'b, 'c>,
    tiles: Tiles<'b, 'c>,
}

/// The elements that a block takes.
struct Stretch<'b, 'c> {
    /// The live number of stretches.
    number: V<'b, 'c>,
    /// Elements, and above them what each stretch comes to.
    levels: Levels<'b, 'c>,
    count: V<'b, 'c>,
    start: V<'b, 'c>,
    /// Behind the last element.
    end: V<'b, 'c>,
}

impl<'b, 'c> Tiled<'b, 'c> {
    fn stretch(&self) -> Stretch<'b, 'c> {
        let (b, size) = (self.b, self.tiles.size);
        let count = b.live_count(self.reduce.count);
        let length = ((count + (MOST * size - 1)) / (MOST * size) * size).max(size);
        let number = (count + (length - 1)) / length;
        let start = b.block_id() * length;
        Stretch {
            number,
            levels: Levels::with_one_above(count, number),
            count,
            start,
            end: (start + length).min(count),
        }
    }

    fn partials(&self) -> Partials<'b, 'c> {
        Partials::Apart(self.reduce.scratch.clone())
    }

    fn combine_as_tree(&self, mut values: Vec<Vec<V<'b, 'c>>>) -> Vec<V<'b, 'c>> {
        while values.len() > 1 {
            values = values
                .chunks(2)
                .map(|pair| match pair {
                    [left, right] => self.reduce.combiner.apply(self.b, left, right),
                    rest => rest[0].clone(),
                })
                .collect();
        }
        values.swap_remove(0)
    }

    /// What this thread has of a tile of the stretch.
    fn of_tile(
        &self,
        stretch: &Stretch<'b, 'c>,
        tile: V<'b, 'c>,
        exchange: Option<&[V<'b, 'c>]>,
    ) -> Vec<V<'b, 'c>> {
        let (b, combiner) = (self.b, &self.reduce.combiner);
        let load = |i| self.reduce.inputs.iter().map(|v| v.at(i)).collect();
        let identity = || combiner.identity(b);
        let values = self.tiles.load(tile, stretch.end, &load, &identity);
        self.combine_as_tree(match exchange {
            None => values,
            Some(arrays) => {
                b.sync();
                self.tiles.exchange(arrays, &values)
            }
        })
    }

    /// Reduces the block's tiles.
    fn reduce_stretch(&self) {
        let (b, combiner) = (self.b, &self.reduce.combiner);
        let arrays = match combiner.is_commutative() {
            true => None,
            false => Some(self.tiles.shared(combiner.types())),
        };
        let stretch = self.stretch();
        b.if_(stretch.start.lt(stretch.count.max(1)), || {
            let (step, identity) = (b.index(self.tiles.size), combiner.identity(b));
            let sum = b.for_(stretch.start, stretch.end, step, identity, |tile, sum| {
                let of_tile = self.of_tile(&stretch, tile, arrays.as_deref());
                let of_tile = match arrays {
                    None => of_tile,
                    Some(_) => b.combine("block.reduce_all", combiner, of_tile),
                };
                combiner.apply(b, &sum, &of_tile)
            });
            let sum = match arrays {
                None => b.combine("block.reduce", combiner, sum),
                Some(_) => sum,
            };
            b.if_(b.thread_id().eq(0), || {
                b.either(
                    stretch.number.gt(1),
                    || {
                        let (levels, block) = (&stretch.levels, b.block_id());
                        self.partials().store(levels, 1, block, &sum);
                    },
                    || self.reduce.write(&sum),
                );
            });
        });
    }

    /// Combines what the stretches came to.
    fn combine(&self) {
        let (b, combiner) = (self.b, &self.reduce.combiner);
        let stretch = self.stretch();
        b.if_(stretch.number.gt(1), || {
            let t = b.thread_id();
            let own = |nth: i64| {
                let at = t * (MOST / BLOCK) + nth;
                load_or_identity(b, combiner, at.lt(stretch.number), || {
                    self.partials().load(&stretch.levels, 1, at, combiner)
                })
            };
            let own = self.combine_as_tree((0..MOST / BLOCK).map(own).collect());
            let total = b.combine("block.reduce", combiner, own);
            b.if_(t.eq(0), || self.reduce.write(&total));
        });
    }
}
