//! A scan by up- and down-sweep of fixed depth. Portable: no block waits for
//! another.
//!
//! 1. *Up*: level by level, each block reduces a tile to an element of the next,
//!    until at most 256 elements are left.
//! 2. *Top*: one block scans these in place.
//! 3. *Down*: level by level, each block scans its tile in place, starting from
//!    its element of the level above.
//! 4. *Last*: the same on the input, whose result goes to the caller's function.
//!
//! A level of one element needs no scan, because no element is before it. It is
//! neither stored nor read, so a live count far below the capacity costs empty
//! phases and no scratch.
//!
//! Papers: Blelloch, Prefix Sums and Their Applications (1990); the form of
//! reduce, scan and add is that of Harris, Sengupta & Owens, GPU Gems 3, ch. 39.
//! Cost: reads the input twice; 1/256 of that again, twice, for each level above.
//! 2D − 1 phases.

use super::{Element, Sweep, Total};
use crate::algorithms::{
    levels::{BLOCK, Levels, combine_below, load_or_neutral},
    partials::Partials,
};
use qd_dialects::builder::V;

/// A level in a phase: its bounds, and this block's tile.
struct Tile<'b, 'c> {
    levels: Levels<'b, 'c>,
    /// Whether this block has a tile; uniform across the block.
    any: V<'b, 'c>,
    i: V<'b, 'c>,
    exists: V<'b, 'c>,
}

impl<'b, 'c> Sweep<'_, 'b, 'c> {
    pub(super) fn hierarchical(&self, last: &dyn Fn(&Element<'b, 'c>)) {
        let grids = Levels::new(self.capacity, self.depth as usize);
        let top = self.top();
        for level in 1..=top {
            let blocks = grids.count(level);
            self.phase(&format!("up{level}"), blocks, level == 1, || self.up(level));
        }
        if top > 0 {
            self.phase("top", self.b.index(1), false, || self.down(top));
        }
        for level in (1..top).rev() {
            let blocks = grids.count(level + 1);
            self.phase(&format!("down{level}"), blocks, false, || self.down(level));
        }
        self.phase("last", grids.count(1), true, || self.last(last));
    }

    /// The topmost level that is stored.
    fn top(&self) -> usize {
        self.depth as usize - 1
    }

    fn phase(&self, step: &str, blocks: V<'b, 'c>, on_input: bool, body: impl FnOnce()) {
        let blocks = match on_input && self.total.is_used() {
            true => blocks.max(1),
            false => blocks,
        };
        let name = format!("{}.{step}", self.name);
        self.b.phase(&name, blocks, BLOCK, body);
    }

    fn tile(&self, level: usize) -> Tile<'b, 'c> {
        let b = self.b;
        let levels = Levels::new((self.count)(), level + 1);
        let (count, start) = (levels.count(level), b.block_id() * BLOCK);
        let any = match level {
            0 if self.total.is_used() => start.lt(count.max(1)),
            0 => start.lt(count),
            _ => count.gt(1) & start.lt(count),
        };
        let i = start + b.thread_id();
        let exists = i.lt(count);
        Tile {
            levels,
            any,
            i,
            exists,
        }
    }

    /// Reduces the tiles of the level below to the elements of `level`.
    fn up(&self, level: usize) {
        let b = self.b;
        let Tile {
            levels,
            any,
            i,
            exists,
        } = self.tile(level - 1);
        b.if_(any, || {
            let partials = (self.partials)();
            let values = load_or_neutral(b, self.combiner, exists, || match level {
                1 => (self.load)(i),
                _ => partials.load(&levels, level - 1, i, self.combiner),
            });
            let sum = b.combine("block.reduce", self.combiner, values);
            b.if_(b.thread_id().eq(0), || {
                let several = levels.count(level).gt(1);
                let store = || partials.store(&levels, level, b.block_id(), &sum);
                match self.total {
                    Total::Before(total) => b.either(several, store, || total(&sum)),
                    _ => b.if_(several, store),
                }
            });
        });
    }

    /// Scans the tiles of `level` in place.
    fn down(&self, level: usize) {
        let b = self.b;
        let Tile {
            levels,
            any,
            i,
            exists,
        } = self.tile(level);
        b.if_(any, || {
            let partials = (self.partials)();
            let values = load_or_neutral(b, self.combiner, exists, || {
                partials.load(&levels, level, i, self.combiner)
            });
            let within = combine_below(b, self.combiner, values.clone());
            let scanned = self.behind_prefix(&partials, &levels, level, &within);
            b.if_(exists, || partials.store(&levels, level, i, &scanned));
            if let (Total::Before(total), true) = (self.total, level == self.top()) {
                let last = (i + 1).eq(levels.count(level));
                b.if_(last, || total(&self.combiner.apply(b, &scanned, &values)));
            }
        });
    }

    /// Scans the tiles of the input.
    fn last(&self, last: &dyn Fn(&Element<'b, 'c>)) {
        let b = self.b;
        let Tile {
            levels,
            any,
            i,
            exists,
        } = self.tile(0);
        b.if_(any, || {
            let value = load_or_neutral(b, self.combiner, exists, || (self.load)(i));
            let within = match self.inclusive {
                true => b.combine("block.inclusive_scan", self.combiner, value.clone()),
                false => combine_below(b, self.combiner, value.clone()),
            };
            let scanned = self.behind_prefix(&(self.partials)(), &levels, 0, &within);
            let count = levels.count(0);
            // This is the last element, or the first thread if there is none.
            let is_last = (i + 1).eq(count.max(1));
            let total = match self.total {
                Total::Before(store) if self.top() == 0 => {
                    let total = b.combine("block.reduce_all", self.combiner, value.clone());
                    b.if_(is_last, || store(&total));
                    Some(total)
                }
                _ => None,
            };
            last(&Element {
                i,
                exists,
                count,
                value: value.clone(),
                scanned: scanned.clone(),
                total,
            });
            if let Total::AtTheEnd(store) = self.total {
                b.if_(is_last, || match self.inclusive {
                    true => store(&scanned),
                    false => store(&self.combiner.apply(b, &scanned, &value)),
                });
            }
        });
    }

    /// Combines this block's element of the level above with the scan within the
    /// tile.
    fn behind_prefix(
        &self,
        partials: &Partials<'b, 'c>,
        levels: &Levels<'b, 'c>,
        level: usize,
        within: &[V<'b, 'c>],
    ) -> Vec<V<'b, 'c>> {
        let b = self.b;
        if level == self.top() {
            return within.to_vec();
        }
        let several = levels.count(level + 1).gt(1);
        let prefix = load_or_neutral(b, self.combiner, several, || {
            partials.load(levels, level + 1, b.block_id(), self.combiner)
        });
        self.combiner.apply(b, &prefix, within)
    }
}
