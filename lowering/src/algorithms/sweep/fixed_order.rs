//! A scan in the order that `deterministic` fixes. Portable: no block waits for
//! another.
//!
//! 1. *Up*: each block reduces a tile.
//! 2. *Top*: one block makes the tiles' aggregates into prefixes, band by band.
//! 3. *Last*: each block scans its tile.
//!
//! Papers: the reduce-then-scan of Harris, Sengupta & Owens, GPU Gems 3, ch. 39.
//! Deviations: the tree is that of [`fixed_order`](crate::algorithms::fixed_order): a
//! thread takes runs of consecutive elements, or a band of tiles.
//! Cost: reads the input twice, and an aggregate for each tile. 3 phases, 1 where the
//! capacity is one tile.

use super::{Element, Sweep, Total};
use crate::algorithms::{
    fixed_order::{Runs, Shape},
    levels::{BLOCK, Levels, load_or_neutral},
};
use qd_dialects::builder::V;

/// A block's tile in a phase.
struct Tile<'b, 'c> {
    /// The live number of elements, and above it that of tiles.
    levels: Levels<'b, 'c>,
    start: V<'b, 'c>,
    /// Whether this block has one.
    any: V<'b, 'c>,
    /// This thread's run: its first element, and its end.
    run: [V<'b, 'c>; 2],
}

impl<'b, 'c> Sweep<'_, 'b, 'c> {
    pub(super) fn fixed_order(&self, shape: Shape, last: &dyn Fn(&Element<'b, 'c>)) {
        debug_assert!(
            !matches!(self.total, Total::Before(_)),
            "numbers of elements have no order"
        );
        let b = self.b;
        let one = BLOCK.pow(self.depth) <= shape.size();
        let tiles = shape.tiles(self.capacity);
        let tiles = match self.total.is_used() {
            true => tiles.max(1),
            false => tiles,
        };
        let phase = |step: &str, blocks, body: &dyn Fn()| {
            b.phase(&format!("{}.{step}", self.name), blocks, BLOCK, body);
        };
        if !one {
            phase("up", tiles, &|| self.tile_up(shape));
            phase("top", b.index(1), &|| self.combine_tiles(shape));
        }
        phase("last", tiles, &|| self.tile_last(shape, one, last));
    }

    fn tile_of(&self, shape: Shape) -> Tile<'b, 'c> {
        let count = (self.count)();
        let start = self.b.block_id() * shape.size();
        let first = (start + self.b.thread_id() * shape.items).min(count);
        Tile {
            levels: Levels::of_tiles(count, 1, |count| shape.tiles(count)),
            start,
            any: match self.total.is_used() {
                true => start.lt(count.max(1)),
                false => start.lt(count),
            },
            run: [first, (first + shape.items).min(count)],
        }
    }

    /// Reduces the tiles.
    fn tile_up(&self, shape: Shape) {
        let b = self.b;
        let runs = Runs::new(b, self.combiner);
        let tile = self.tile_of(shape);
        b.if_(tile.any, || {
            runs.combine(&self.fold_run(&tile));
            b.if_(b.thread_id().eq(0), || {
                let several = tile.levels.count(1).gt(1);
                let keep = || {
                    (self.partials)().store(&tile.levels, 1, b.block_id(), &runs.total());
                };
                b.if_(several, keep);
            });
        });
    }

    /// Makes aggregates into prefixes. In shared memory tiles are combined to bands as
    /// runs to groups.
    fn combine_tiles(&self, shape: Shape) {
        let (b, combiner) = (self.b, self.combiner);
        let staged = Runs::new(b, combiner);
        let levels = self.tile_of(shape).levels;
        let (tiles, t) = (levels.count(1), b.thread_id());
        b.if_(tiles.gt(1), || {
            let partials = (self.partials)();
            let (zero, block) = (b.index(0), b.index(BLOCK));
            b.for_(zero, tiles, block, combiner.neutral(b), |first, before| {
                let i = first + t;
                let exists = i.lt(tiles);
                let aggregate = b.if_else(
                    exists,
                    || partials.load(&levels, 1, i, combiner),
                    || combiner.exact_neutral(b),
                );
                staged.combine(&aggregate);
                b.if_(exists, || {
                    let prefix = staged.before(before.clone());
                    partials.store(&levels, 1, i, &prefix);
                });
                let after = staged.all(before);
                // Then the next tiles take their place.
                b.sync();
                after
            });
        });
    }

    /// Scans the tiles. With `one`, there is no phase before.
    fn tile_last(&self, shape: Shape, one: bool, last: &dyn Fn(&Element<'b, 'c>)) {
        let (b, combiner) = (self.b, self.combiner);
        let runs = Runs::new(b, combiner);
        let tile = self.tile_of(shape);
        let count = tile.levels.count(0);
        b.if_(tile.any, || {
            runs.combine(&self.fold_run(&tile));
            let before = match one {
                true => combiner.neutral(b),
                false => load_or_neutral(b, combiner, tile.levels.count(1).gt(1), || {
                    (self.partials)().load(&tile.levels, 1, b.block_id(), combiner)
                }),
            };
            let within = runs.before(combiner.exact_neutral(b));
            let ([first, end], one) = (tile.run, b.index(1));
            b.for_(first, end, one, combiner.exact_neutral(b), |i, below| {
                let value = (self.load)(i);
                let upto = combiner.apply(b, &below, &value);
                let own = if self.inclusive { &upto } else { &below };
                let in_tile = combiner.apply(b, &within, own);
                last(&Element {
                    i,
                    exists: b.bool(true),
                    count,
                    value,
                    scanned: combiner.apply(b, &before, &in_tile),
                    total: None,
                });
                upto
            });
            if let Total::AtTheEnd(put) = self.total {
                let is_last = (tile.start + shape.size()).ge(count);
                b.if_(b.thread_id().eq(0) & is_last, || {
                    put(&combiner.apply(b, &before, &runs.total()));
                });
            }
        });
    }

    /// Combines the elements of this thread's run.
    fn fold_run(&self, tile: &Tile<'b, 'c>) -> Vec<V<'b, 'c>> {
        let (b, combiner) = (self.b, self.combiner);
        let ([first, end], one) = (tile.run, b.index(1));
        b.for_(first, end, one, combiner.exact_neutral(b), |i, sum| {
            combiner.apply(b, &sum, &(self.load)(i))
        })
    }
}
