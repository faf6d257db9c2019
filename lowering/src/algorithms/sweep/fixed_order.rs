//! A scan in the order that `deterministic` fixes. Portable: no block waits for
//! another.
//!
//! 1. *Up*: each block reduces a tile.
//! 2. *Top*: one block makes the tiles' aggregates into prefixes, from the left.
//! 3. *Last*: each block scans its tile.
//!
//! Papers: the reduce-then-scan of Harris, Sengupta & Owens, GPU Gems 3, ch. 39.
//! Deviations: the tree is that of [`fixed_order`](crate::algorithms::fixed_order): a
//! thread takes runs of consecutive elements, and one thread combines the tiles.
//! Cost: reads the input twice, and an aggregate for each tile. 3 phases, 1 where the
//! capacity is one tile.

use super::{Element, Sweep, Total};
use crate::algorithms::{
    fixed_order::{Runs, Shape},
    levels::{BLOCK, Levels, load_or_neutral},
    tiles::{load, store},
};
use qd_dialects::builder::V;

/// A tile in a phase.
struct Tile<'b, 'c> {
    /// The live number of elements, and above it that of tiles.
    levels: Levels<'b, 'c>,
    start: V<'b, 'c>,
    /// Whether this block has one.
    any: V<'b, 'c>,
}

impl<'b, 'c> Sweep<'_, 'b, 'c> {
    pub(super) fn fixed_order(&self, shape: Shape, last: &dyn Fn(&Element<'b, 'c>)) {
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
        Tile {
            levels: Levels::of_tiles(count, 1, |count| shape.tiles(count)),
            start,
            any: match self.total.is_used() {
                true => start.lt(count.max(1)),
                false => start.lt(count),
            },
        }
    }

    /// Reduces the tiles.
    fn tile_up(&self, shape: Shape) {
        let b = self.b;
        let runs = Runs::new(b, self.combiner, shape);
        let tile = self.tile_of(shape);
        b.if_(tile.any, || {
            self.fold_runs(shape, &runs, &tile);
            b.if_(b.thread_id().eq(0), || {
                let several = tile.levels.count(1).gt(1);
                let keep = || {
                    (self.partials)().store(&tile.levels, 1, b.block_id(), &runs.total());
                };
                match self.total {
                    Total::Before(put) => b.either(several, keep, || put(&runs.total())),
                    _ => b.if_(several, keep),
                }
            });
        });
    }

    /// Makes aggregates into prefixes. They are staged in shared memory, where one
    /// thread combines them.
    fn combine_tiles(&self, shape: Shape) {
        let (b, combiner) = (self.b, self.combiner);
        let types = combiner.types().iter();
        let staged: Vec<_> = types.map(|t| b.shared(*t, BLOCK)).collect();
        let levels = self.tile_of(shape).levels;
        let (tiles, t) = (levels.count(1), b.thread_id());
        b.if_(tiles.gt(1), || {
            let partials = (self.partials)();
            let (zero, one, block) = (b.index(0), b.index(1), b.index(BLOCK));
            let nothing = combiner.neutral(b);
            let all = b.for_(zero, tiles, block, nothing, |first, before| {
                let i = first + t;
                b.if_(i.lt(tiles), || {
                    store(&staged, t, &partials.load(&levels, 1, i, combiner));
                });
                b.sync();
                let number = (tiles - first).min(BLOCK);
                let combine = || {
                    b.for_(zero, number, one, before.clone(), |nth, before| {
                        let aggregate = load(&staged, nth);
                        store(&staged, nth, &before);
                        combiner.apply(b, &before, &aggregate)
                    })
                };
                let after = b.if_else(t.eq(0), combine, || before.clone());
                b.sync();
                b.if_(i.lt(tiles), || {
                    partials.store(&levels, 1, i, &load(&staged, t));
                });
                after
            });
            if let Total::Before(total) = self.total {
                b.if_(t.eq(0), || total(&all));
            }
        });
    }

    /// Scans the tiles. With `one`, there is no phase before.
    fn tile_last(&self, shape: Shape, one: bool, last: &dyn Fn(&Element<'b, 'c>)) {
        let (b, combiner) = (self.b, self.combiner);
        let runs = Runs::new(b, combiner, shape);
        let tile = self.tile_of(shape);
        let count = tile.levels.count(0);
        b.if_(tile.any, || {
            self.fold_runs(shape, &runs, &tile);
            let before = match one {
                true => combiner.neutral(b),
                false => load_or_neutral(b, combiner, tile.levels.count(1).gt(1), || {
                    (self.partials)().load(&tile.levels, 1, b.block_id(), combiner)
                }),
            };
            let total = || combiner.apply(b, &before, &runs.total());
            let leads = b.thread_id().eq(0);
            let known = match self.total {
                Total::Before(put) if one => {
                    let total = total();
                    b.if_(leads, || put(&total));
                    Some(total)
                }
                _ => None,
            };
            self.each_run(shape, &tile, |run, first, end| {
                let within = runs.before(run);
                let one = b.index(1);
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
                        total: known.clone(),
                    });
                    upto
                });
            });
            if let Total::AtTheEnd(put) = self.total {
                let is_last = (tile.start + shape.size()).ge(count);
                b.if_(leads & is_last, || put(&total()));
            }
        });
    }

    /// Combines the runs of a tile.
    fn fold_runs(&self, shape: Shape, runs: &Runs<'_, 'b, 'c>, tile: &Tile<'b, 'c>) {
        let (b, combiner) = (self.b, self.combiner);
        self.each_run(shape, tile, |run, first, end| {
            let sum = b.for_(
                first,
                end,
                b.index(1),
                combiner.exact_neutral(b),
                |i, sum| combiner.apply(b, &sum, &(self.load)(i)),
            );
            runs.set(run, &sum);
        });
        runs.combine();
    }

    /// The runs of this thread: the number in the tile, the first element, and the end.
    fn each_run(
        &self,
        shape: Shape,
        tile: &Tile<'b, 'c>,
        mut each: impl FnMut(V<'b, 'c>, V<'b, 'c>, V<'b, 'c>),
    ) {
        let b = self.b;
        let count = tile.levels.count(0);
        for nth in 0..shape.runs / BLOCK {
            let run = b.thread_id() + nth * BLOCK;
            let first = (tile.start + run * shape.items).min(count);
            each(run, first, (first + shape.items).min(count));
        }
    }
}
