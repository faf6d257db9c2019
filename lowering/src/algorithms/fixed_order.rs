//! The order in which `deterministic` combines floats: the same on every target, at
//! every subgroup size, whatever ran first.
//!
//! The page of [`qd.algo.reduce`](../../../docs/generated/algo.md) defines it: elements
//! form *runs*, runs form *groups*, groups form *tiles*, tiles form *bands*, and each
//! level is combined from the left. Nothing here depends on a subgroup: a thread combines a run, and
//! another a group, through shared memory. [`Shape`] is the one part of the definition
//! that depends on the elements' size.
//!
//! Kinds that do not round, and integers, have no order to keep: [`applies`].

use super::{
    deterministic,
    levels::BLOCK,
    tiles::{bytes, load, store},
};
use qd_dialects::{
    attributes::{self, Kind, names::TUNING},
    builder::{Builder, Combiner, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, is_float},
    melior::ir::Type,
};

/// Runs of a group.
const GROUP: i64 = 32;

/// Groups of a tile.
pub(super) const GROUPS: i64 = RUNS / GROUP;

/// Tiles of a band.
pub(super) const BAND: i64 = GROUP;

/// Runs of a tile: one for each thread.
pub(super) const RUNS: i64 = BLOCK;

/// The size of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Elements of a run. Odd, as they are neighbours in shared memory.
    pub items: i64,
}

impl Shape {
    /// For elements that hold scalars of these types. A tile and its runs fit 64 KiB of
    /// shared memory.
    pub fn of(types: &[Type]) -> Self {
        let items = match bytes(types) {
            ..=4 => 31,
            5..=8 => 23,
            9..=12 => 11,
            13..=16 => 9,
            _ => 5,
        };
        Self { items }
    }

    /// Elements of a tile.
    pub const fn size(self) -> i64 {
        RUNS * self.items
    }

    /// Tiles that `elements` elements make.
    pub fn tiles<'b, 'c>(self, elements: V<'b, 'c>) -> V<'b, 'c> {
        (elements + (self.size() - 1)) / self.size()
    }
}

/// Whether an op that combines scalars by this is to combine them in the fixed order.
pub(super) fn applies(op: Op, combiner: &Combiner) -> bool {
    deterministic(op) && is_order_sensitive(combiner)
}

/// Whether results depend on the order in which values are combined, as float sums
/// do.
fn is_order_sensitive(combiner: &Combiner) -> bool {
    combiner.types().iter().any(|t| is_float(*t))
        && matches!(combiner.as_kind(), None | Some(Kind::Add | Kind::Mul))
}

/// An error at an op that names a strategy with an order of its own.
pub(super) fn refuse<'c>(op: Op<'c>, combiner: &Combiner, strategy: &str) -> Result<'c> {
    match applies(op, combiner) {
        false => Ok(()),
        true => Err(Diagnostic::at(
            op,
            format!(
                "combines floats and is deterministic: strategy '{strategy}' has an order of its own"
            ),
        )),
    }
}

/// An error at an op whose tuning sets what the order fixes.
pub(super) fn check_tuning<'c>(op: Op<'c>) -> Result<'c> {
    let said = op.attr(TUNING).and_then(attributes::entries);
    let names = said.into_iter().flatten().map(|(name, _)| name);
    match names
        .into_iter()
        .find(|name| name == "threads" || name == "items")
    {
        None => Ok(()),
        Some(name) => Err(Diagnostic::at(
            op,
            format!(
                "'{TUNING}' sets {name}: the tiles of a deterministic combination of floats are fixed"
            ),
        )),
    }
}

/// The runs of a block's tile, in shared memory.
pub(super) struct Runs<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    combiner: &'a Combiner<'c>,
    /// A slot for each run: its sum, and then the sum of the runs before it in its
    /// group. A slot is left out after each group, against bank conflicts.
    sums: Vec<V<'b, 'c>>,
    /// The sum of each group.
    totals: Vec<V<'b, 'c>>,
}

impl<'a, 'b, 'c> Runs<'a, 'b, 'c> {
    /// At the top of a phase.
    pub fn new(b: &'b Builder<'c>, combiner: &'a Combiner<'c>) -> Self {
        let arrays = |length: i64| {
            let types = combiner.types().iter();
            types.map(|t| b.shared(*t, length)).collect()
        };
        Self {
            b,
            combiner,
            sums: arrays(GROUPS * (GROUP + 1)),
            totals: arrays(GROUPS),
        }
    }

    /// Combines the runs of each group. Run by all threads of the block, each with the
    /// sum of its run.
    pub fn combine(&self, sum: &[V<'b, 'c>]) {
        let b = self.b;
        let run = b.thread_id();
        store(&self.sums, run + run / GROUP, sum);
        let group = run;
        b.sync();
        b.if_(group.lt(GROUPS), || {
            let first = group * (GROUP + 1);
            let nothing = self.combiner.exact_neutral(b);
            let total = match self.combiner.as_kind() {
                // All loads are in flight at once.
                Some(_) => {
                    let sums: Vec<_> = (0..GROUP)
                        .map(|nth| load(&self.sums, first + nth))
                        .collect();
                    (0..).zip(&sums).fold(nothing, |before, (nth, sum)| {
                        store(&self.sums, first + nth, &before);
                        self.combiner.apply(b, &before, sum)
                    })
                }
                None => {
                    let (zero, one) = (b.index(0), b.index(1));
                    b.for_(zero, b.index(GROUP), one, nothing, |nth, before| {
                        let sum = load(&self.sums, first + nth);
                        store(&self.sums, first + nth, &before);
                        self.combiner.apply(b, &before, &sum)
                    })
                }
            };
            store(&self.totals, group, &total);
        });
        b.sync();
    }

    /// The combination of the runs before this thread's, after `first`.
    pub fn before(&self, first: Vec<V<'b, 'c>>) -> Vec<V<'b, 'c>> {
        let run = self.b.thread_id();
        let group = run / GROUP;
        let groups = self.first_groups(first, group);
        let within = load(&self.sums, run + group);
        self.combiner.apply(self.b, &groups, &within)
    }

    /// The combination of the tile.
    pub fn total(&self) -> Vec<V<'b, 'c>> {
        let nothing = self.combiner.exact_neutral(self.b);
        self.first_groups(nothing, self.b.index(GROUPS))
    }

    /// The combination of the first groups, after `first`.
    pub fn first_groups(&self, first: Vec<V<'b, 'c>>, number: V<'b, 'c>) -> Vec<V<'b, 'c>> {
        let (b, combiner) = (self.b, self.combiner);
        let (zero, one) = (b.index(0), b.index(1));
        b.for_(zero, number, one, first, |group, sum| {
            combiner.apply(b, &sum, &load(&self.totals, group))
        })
    }
}
