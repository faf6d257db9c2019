//! Reduce in the order that `deterministic` fixes, in one launch on any target.
//!
//! 1. Each block combines its tiles and writes their aggregates. Then it counts itself
//!    as finished.
//! 2. The last block to finish combines the aggregates in the same way, tile by tile
//!    and level by level. No block waits for another.
//!
//! With a combiner that commutes, an element's run is its number in the tile modulo the
//! number of runs, so that neighbouring threads load neighbouring elements. With any
//! other, a run is consecutive elements.
//!
//! Paper: the last-block reduction is that of the CUDA Programming Guide's example of
//! `__threadfence`.
//! Deviations: the tree is that of [`fixed_order`](crate::algorithms::fixed_order): a
//! tile's aggregate is its own, whichever block combines it.
//! Cost: reads each element once, and an aggregate for each tile. 1 phase.

use super::{Reduce, tiled::MOST_BYTES};
use crate::{
    algorithms::{
        fixed_order::{RUNS, Runs, Shape, together},
        last_block::LastBlock,
        levels::{BLOCK, Levels},
        partials::Partials,
        tiles::{bytes, prefetch},
    },
    targets::{Capabilities, tuning::Tuning},
};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::Op,
};

/// Blocks that share the tiles, unless the op says otherwise. On an H200 a sum of 2^28
/// floats takes 244 µs so, and 286 with a block for each tile.
const BLOCKS: i64 = 396;

/// Builds a phase.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>, capabilities: &Capabilities) -> Result<'c> {
    let reduce = Reduce::of(b, op);
    let types = reduce.combiner.types();
    let shape = Shape::of(types);
    // Larger elements have no tunings of their own.
    let held = bytes(types).min(MOST_BYTES);
    let tuning = Tuning {
        blocks: BLOCKS,
        ..Tuning::of(op, "reduce", held, capabilities)?
    };
    let tuning = tuning.in_shape(op, shape)?;
    let mut capacities = vec![BLOCK.pow(reduce.depth)];
    while let Some(above) = capacities
        .last()
        .filter(|elements| **elements > shape.size())
    {
        capacities.push((above + shape.size() - 1) / shape.size());
    }
    let fixed = FixedOrder {
        b,
        shape,
        tuning,
        levels: capacities.len(),
        reduce: &reduce,
    };
    let blocks = fixed.blocks(shape.tiles(reduce.count.capacity).max(1));
    // A single tile is nobody's to wait for.
    let last_block = (fixed.levels > 1).then(|| LastBlock::new(b));
    tuning.phase(b, "reduce", blocks, || fixed.body(last_block.as_ref()));
    Ok(())
}

struct FixedOrder<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    reduce: &'a Reduce<'b, 'c>,
    shape: Shape,
    tuning: Tuning,
    /// Levels that a full buffer has: the elements, and the aggregates of each level's
    /// tiles until one tile holds them all.
    levels: usize,
}

impl<'b, 'c> FixedOrder<'_, 'b, 'c> {
    /// Blocks that take part for so many tiles.
    fn blocks(&self, tiles: V<'b, 'c>) -> V<'b, 'c> {
        match self.tuning.blocks {
            0 => tiles,
            most => tiles.min(most),
        }
    }

    fn body(&self, last_block: Option<&LastBlock<'b, 'c>>) {
        let (b, reduce) = (self.b, self.reduce);
        let runs = Runs::new(b, &reduce.combiner);
        let is_last = last_block.map(LastBlock::shared);
        let count = reduce.count.live();
        let levels = Levels::of_tiles(count, self.levels, |count| self.shape.tiles(count));
        let tiles = levels.count(1).max(1);
        let blocks = self.blocks(tiles);
        let several = tiles.gt(1);
        let of_tile = |tile: V<'b, 'c>| {
            let load = |i| reduce.inputs.iter().map(|input| input.at(i)).collect();
            self.combine(&runs, tile, count, &load, true);
            let start = tile * self.shape.size();
            prefetch(&self.tuning, &reduce.inputs, start, count);
            let write = || self.write(&runs, count);
            match last_block {
                Some(_) => b.either(several, || self.store(&runs, &levels, 1, tile), write),
                None => write(),
            }
        };
        b.if_(b.block_id().lt(blocks), || {
            if self.tuning.blocks == 0 {
                of_tile(b.block_id());
            } else {
                b.for_(b.block_id(), tiles, blocks, [], |tile, none| {
                    of_tile(tile);
                    // Then the next tile's runs take its place.
                    b.sync();
                    none
                });
            }
            if let (Some(last_block), Some(is_last)) = (last_block, is_last) {
                b.if_(several, || {
                    last_block.run(blocks, is_last, || self.finish(&runs, &levels));
                });
            }
        });
    }

    /// Combines the aggregates.
    fn finish(&self, runs: &Runs<'_, 'b, 'c>, levels: &Levels<'b, 'c>) {
        let b = self.b;
        let partials = Partials::Separate(self.reduce.scratch.clone());
        for level in 1..self.levels {
            let elements = levels.count(level);
            let load = |i| partials.load(levels, level, i, &self.reduce.combiner);
            let tiles = self.shape.tiles(elements);
            // One element is the result, which has been written.
            b.if_(elements.gt(1), || {
                b.for_(b.index(0), tiles, b.index(1), [], |tile, none| {
                    // Levels above have few elements.
                    self.combine(runs, tile, elements, &load, level == 1);
                    let result = || self.write(runs, levels.count(0));
                    match level + 1 == self.levels {
                        true => result(),
                        false => b.either(
                            tiles.gt(1),
                            || self.store(runs, levels, level + 1, tile),
                            result,
                        ),
                    }
                    // Then the next tile's runs, or the next level, take its place.
                    b.sync();
                    none
                });
            });
        }
    }

    /// Combines a tile of `count` elements. Run by all threads of the block. If it is
    /// `unrolled`, several loads of a run are in flight at once, of a kind's all.
    fn combine(
        &self,
        runs: &Runs<'_, 'b, 'c>,
        tile: V<'b, 'c>,
        count: V<'b, 'c>,
        load: &dyn Fn(V<'b, 'c>) -> Vec<V<'b, 'c>>,
        unrolled: bool,
    ) {
        let (b, combiner, Shape { items }) = (self.b, &self.reduce.combiner, self.shape);
        let start = tile * self.shape.size();
        let end = (start + self.shape.size()).min(count);
        let full = (start + self.shape.size()).le(count);
        let nothing = || combiner.exact_neutral(b);
        let fold = |first: V<'b, 'c>, end: V<'b, 'c>, step: i64| {
            b.for_(first, end, b.index(step), nothing(), |i, sum| {
                combiner.apply(b, &sum, &load(i))
            })
        };
        let run = b.thread_id();
        let (first, end, step) = match combiner.is_commutative() {
            true => (start + run, end, RUNS),
            false => {
                let first = start + run * items;
                (first, (first + items).min(end), 1)
            }
        };
        let sum = match unrolled {
            true => {
                let together = together(combiner, items);
                let several = |first: V<'b, 'c>, count: i64, sum: Vec<V<'b, 'c>>| {
                    let loaded: Vec<_> = (0..count).map(|item| load(first + item * step)).collect();
                    let combine = |sum: Vec<_>, value: &Vec<_>| combiner.apply(b, &sum, value);
                    loaded.iter().fold(sum, combine)
                };
                let all = || {
                    if together == items {
                        return several(first, items, nothing());
                    }
                    let rest = items % together;
                    let [zero, end, by] = [0, items - rest, together].map(|number| b.index(number));
                    let sum = b.for_(zero, end, by, nothing(), |item, sum| {
                        several(first + item * step, together, sum)
                    });
                    several(first + (items - rest) * step, rest, sum)
                };
                b.if_else(full, all, || fold(first, end, step))
            }
            false => fold(first, end, step),
        };
        runs.combine(&sum);
    }

    /// Stores a tile's aggregate as an element of a level.
    fn store(
        &self,
        runs: &Runs<'_, 'b, 'c>,
        levels: &Levels<'b, 'c>,
        level: usize,
        tile: V<'b, 'c>,
    ) {
        let b = self.b;
        b.if_(b.thread_id().eq(0), || {
            let partials = Partials::Separate(self.reduce.scratch.clone());
            partials.store(levels, level, tile, &runs.total());
        });
    }

    /// Writes the result.
    fn write(&self, runs: &Runs<'_, 'b, 'c>, count: V<'b, 'c>) {
        let b = self.b;
        b.if_(b.thread_id().eq(0), || {
            // As a prefix of nothing: a sum of −0 alone is 0 on every target.
            let nothing = self.reduce.combiner.neutral(b);
            let total = self.reduce.combiner.apply(b, &nothing, &runs.total());
            self.reduce.write(count, &total);
        });
    }
}
