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

/// Values that are loaded together, which hides the latency of memory: few where each takes a copy of
/// the combiner's code.
const TOGETHER: i64 = 4;

/// How many of `count` values are loaded together.
pub(super) fn together(combiner: &Combiner, count: i64) -> i64 {
    match combiner.as_kind() {
        Some(_) => count,
        None => TOGETHER.min(count),
    }
}

/// Runs of a tile: one for each thread.
pub(super) const RUNS: i64 = BLOCK;

/// The size of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Elements of a run. Odd, as they are neighbours in shared memory.
    pub items: i64,
}

impl Shape {
    /// For elements that hold scalars of these types. A tile of the look-back, which has at most 32 bytes an
    /// element, and its runs fit 64 KiB of shared memory; from 17 bytes on no more elements do.
    pub fn of(types: &[Type]) -> Self {
        let items = match bytes(types) {
            ..=4 => 31,
            5..=8 => 23,
            9..=12 => 17,
            13..=20 => 11,
            21..=24 => 9,
            25..=28 => 7,
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
            let together = together(self.combiner, GROUP);
            let nothing = self.combiner.exact_neutral(b);
            let [zero, end, step] = [0, GROUP, together].map(|number| b.index(number));
            let total = b.for_(zero, end, step, nothing, |nth, before| {
                let at = |more: i64| first + nth + more;
                let each = 0..together;
                let sums: Vec<_> = each.map(|more| load(&self.sums, at(more))).collect();
                (0..).zip(&sums).fold(before, |before, (more, sum)| {
                    store(&self.sums, at(more), &before);
                    self.combiner.apply(b, &before, sum)
                })
            });
            store(&self.totals, group, &total);
        });
        b.sync();
    }

    /// The combination of the runs before this thread's, after `first`.
    pub fn before(&self, first: Vec<V<'b, 'c>>) -> Vec<V<'b, 'c>> {
        let groups = self.groups_before(first);
        self.combiner
            .apply(self.b, &groups, &self.before_in_group())
    }

    /// The combination of the runs before this thread's, and in the last thread that of the
    /// tile.
    pub fn before_and_total(&self) -> (Vec<V<'b, 'c>>, Vec<V<'b, 'c>>) {
        let groups = self.groups_before(self.combiner.exact_neutral(self.b));
        let own = load(&self.totals, self.b.thread_id() / GROUP);
        let apply = |right: &[V<'b, 'c>]| self.combiner.apply(self.b, &groups, right);
        (apply(&self.before_in_group()), apply(&own))
    }

    /// The combination of the tile.
    pub fn total(&self) -> Vec<V<'b, 'c>> {
        self.all(self.combiner.exact_neutral(self.b))
    }

    /// The combination of the tile, after `first`.
    pub fn all(&self, first: Vec<V<'b, 'c>>) -> Vec<V<'b, 'c>> {
        self.groups(first, self.b.index(GROUPS), |_| self.b.bool(true))
    }

    fn before_in_group(&self) -> Vec<V<'b, 'c>> {
        let run = self.b.thread_id();
        load(&self.sums, run + run / GROUP)
    }

    /// The combination of the groups before this thread's, after `first`.
    fn groups_before(&self, first: Vec<V<'b, 'c>>) -> Vec<V<'b, 'c>> {
        let own = self.b.thread_id() / GROUP;
        self.groups(first, own, |group| group.lt(own))
    }

    /// The combination of the groups before `end` that are taken, after `first`.
    fn groups(
        &self,
        first: Vec<V<'b, 'c>>,
        end: V<'b, 'c>,
        is_taken: impl Fn(V<'b, 'c>) -> V<'b, 'c>,
    ) -> Vec<V<'b, 'c>> {
        let (b, combiner) = (self.b, self.combiner);
        let (zero, step) = (b.index(0), b.index(TOGETHER));
        b.for_(zero, end, step, first, |group, before| {
            let each = 0..TOGETHER;
            let totals: Vec<_> = each.map(|nth| load(&self.totals, group + nth)).collect();
            (0..).zip(&totals).fold(before, |before, (nth, total)| {
                let with = combiner.apply(b, &before, total);
                let is_taken = is_taken(group + nth);
                let either = with.iter().zip(&before);
                either
                    .map(|(with, before)| is_taken.select(*with, *before))
                    .collect()
            })
        })
    }
}
