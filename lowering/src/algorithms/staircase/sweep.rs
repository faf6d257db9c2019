//! A scan by up- and down-sweep over the staircase, of whatever its user loads
//! and into whatever its user does with the result.
//!
//! 1. *Up*: level by level, each block reduces a tile to an element of the
//!    next, until at most 256 elements are left.
//! 2. *Top*: one block scans these in place.
//! 3. *Down*: level by level, each block scans its tile in place, starting
//!    from what the level above holds for it.
//! 4. *Last*: the same on the input, but for what becomes of the result.
//!
//! A level of one element needs no scan: its prefix is the identity. It is
//! neither stored nor read, so a live count far below the capacity costs empty
//! phases and no scratch.
//!
//! Papers: Blelloch, Prefix Sums and Their Applications (1990); the form of
//! reduce, scan and add is that of Harris, Sengupta & Owens, GPU Gems 3, ch. 39.
//! Cost: reads the input twice; 1/256 of that again, twice, for each level above.

use super::{BLOCK, Levels, Partials, load_or_identity};
use qd_dialects::builder::{Builder, Combiner, V};

/// A scan under construction. Scans are exclusive unless `inclusive`.
pub(in crate::algorithms) struct Sweep<'a, 'b, 'c> {
    pub b: &'b Builder<'c>,
    /// Of the phases.
    pub name: &'a str,
    pub depth: usize,
    /// The most elements there can be; the host's.
    pub capacity: V<'b, 'c>,
    pub combiner: &'a Combiner<'c>,
    pub inclusive: bool,
    /// Whether there is something to do even for no elements, such as writing
    /// a count.
    pub even_if_empty: bool,
    /// The live number of elements, in a phase.
    pub count: &'a dyn Fn() -> V<'b, 'c>,
    /// Element `i`, in a phase.
    pub load: &'a dyn Fn(V<'b, 'c>) -> Vec<V<'b, 'c>>,
    /// Where the upper levels are kept, in a phase.
    pub partials: &'a dyn Fn() -> Partials<'b, 'c>,
    /// What to do with the combination of all elements, before the last phase;
    /// by one thread. Not for a depth of 1.
    pub total: Option<&'a Total<'a, 'b, 'c>>,
}

/// What becomes of the combination of all elements.
type Total<'a, 'b, 'c> = dyn Fn(&[V<'b, 'c>]) + 'a;

/// What a thread of the last phase has.
pub(in crate::algorithms) struct Element<'b, 'c> {
    /// Which element it is, or would be.
    pub i: V<'b, 'c>,
    /// Whether there is one.
    pub exists: V<'b, 'c>,
    /// The live number of elements.
    pub count: V<'b, 'c>,
    /// What was loaded; the identity if there is none.
    pub value: Vec<V<'b, 'c>>,
    /// The combination of all before, and if inclusive of this as well.
    pub scanned: Vec<V<'b, 'c>>,
}

impl<'b, 'c> Element<'b, 'c> {
    /// Whether this is the last element, or the first thread if there is none.
    pub fn is_last(&self) -> V<'b, 'c> {
        (self.i + 1).eq(self.count.max(1))
    }
}

/// A level in a phase: its bounds, and this block's tile.
struct Tile<'b, 'c> {
    levels: Levels<'b, 'c>,
    /// Whether this block has a tile; the same for all its threads.
    any: V<'b, 'c>,
    i: V<'b, 'c>,
    exists: V<'b, 'c>,
}

impl<'b, 'c> Sweep<'_, 'b, 'c> {
    /// Builds the phases; `last` is what the threads of the last one do.
    pub fn run(&self, last: impl Fn(&Element<'b, 'c>)) {
        let grids = Levels::new(self.capacity, self.depth);
        let top = self.depth - 1;
        for level in 1..=top {
            self.phase(
                &format!("up{level}"),
                grids.count(level),
                level == 1,
                || {
                    self.up(level);
                },
            );
        }
        if top > 0 {
            self.phase("top", self.b.index(1), false, || self.down(top));
        }
        for level in (1..top).rev() {
            self.phase(
                &format!("down{level}"),
                grids.count(level + 1),
                false,
                || {
                    self.down(level);
                },
            );
        }
        self.phase("last", grids.count(1), true, || self.last(&last));
    }

    fn phase(&self, step: &str, blocks: V<'b, 'c>, on_input: bool, body: impl FnOnce()) {
        let blocks = if on_input && self.even_if_empty {
            blocks.max(1)
        } else {
            blocks
        };
        let name = format!("{}.{step}", self.name);
        self.b.phase(&name, blocks, BLOCK, body);
    }

    fn tile(&self, level: usize) -> Tile<'b, 'c> {
        let b = self.b;
        let levels = Levels::new((self.count)(), level + 1);
        let (count, start) = (levels.count(level), b.block_id() * BLOCK);
        let any = match level {
            0 if self.even_if_empty => start.lt(count.max(1)),
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

    fn partials(&self) -> Partials<'b, 'c> {
        (self.partials)()
    }

    fn combine(&self, op: &str, values: Vec<V<'b, 'c>>) -> Vec<V<'b, 'c>> {
        self.b.combine(op, self.combiner, values)
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
            let partials = self.partials();
            let values = load_or_identity(b, self.combiner, exists, || match level {
                1 => (self.load)(i),
                _ => partials.load(&levels, level - 1, i, self.combiner),
            });
            let sum = self.combine("block.reduce", values);
            b.if_(b.thread_id().eq(0), || {
                let several = levels.count(level).gt(1);
                let store = || partials.store(&levels, level, b.block_id(), &sum);
                match self.total {
                    None => b.if_(several, store),
                    Some(total) => b.either(several, store, || total(&sum)),
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
            let partials = self.partials();
            let values = load_or_identity(b, self.combiner, exists, || {
                partials.load(&levels, level, i, self.combiner)
            });
            let within = self.combine("block.exclusive_scan", values.clone());
            let scanned = self.behind_prefix(&partials, &levels, level, &within);
            b.if_(exists, || partials.store(&levels, level, i, &scanned));
            if let (Some(total), true) = (self.total, level == self.depth - 1) {
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
            let value = load_or_identity(b, self.combiner, exists, || (self.load)(i));
            let op = match self.inclusive {
                true => "block.inclusive_scan",
                false => "block.exclusive_scan",
            };
            let within = self.combine(op, value.clone());
            let scanned = self.behind_prefix(&self.partials(), &levels, 0, &within);
            let count = levels.count(0);
            last(&Element {
                i,
                exists,
                count,
                value,
                scanned,
            });
        });
    }

    /// What the level above holds for this block's tile, combined with the scan
    /// within the tile.
    fn behind_prefix(
        &self,
        partials: &Partials<'b, 'c>,
        levels: &Levels<'b, 'c>,
        level: usize,
        within: &[V<'b, 'c>],
    ) -> Vec<V<'b, 'c>> {
        let b = self.b;
        if level == self.depth - 1 {
            return within.to_vec();
        }
        let several = levels.count(level + 1).gt(1);
        let prefix = load_or_identity(b, self.combiner, several, || {
            partials.load(levels, level + 1, b.block_id(), self.combiner)
        });
        self.combiner.apply(b, &prefix, within)
    }
}
