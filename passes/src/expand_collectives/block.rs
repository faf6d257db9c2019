//! Reductions and scans of a block: each subgroup by itself, then the totals of
//! all through shared memory.
//!
//! Where a subgroup has a lane for each total, every subgroup reads them all and
//! combines them for itself: one barrier. Where there are more subgroups than
//! lanes (4 lanes and 1,024 threads make 256), the first subgroup goes through
//! the totals in a loop and writes back what the others need: two barriers.

use super::{
    Setting,
    fold::{Fold, raw, select, shuffle},
};
use crate::select_subgroup_size::threads_of;
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{InsertionPoint, Op, OpExt, Value},
    melior::ir::Type,
};

/// The block an op is in.
pub(super) struct Block<'c> {
    body: Op<'c>,
    /// Threads in it.
    pub threads: i64,
    /// Whether the op may run more than once, so that shared memory of an
    /// earlier run may still be read.
    is_repeated: bool,
}

impl<'c> Block<'c> {
    /// The phase or outlined body around an op.
    pub fn of(op: Op<'c>) -> Result<'c, Self> {
        let mut is_repeated = false;
        let mut around = op.parent();
        while let Some(body) = around {
            if let Some(threads) = threads_of(body) {
                return Ok(Self {
                    body,
                    threads,
                    is_repeated,
                });
            }
            is_repeated |= body.is("scf.for") || body.is("scf.while");
            around = body.parent();
        }
        Err(Diagnostic::at(
            op,
            "is not in a phase or an outlined body, so its block's size is not known: \
             inline its function first",
        ))
    }

    /// A shared array at the top of the body.
    pub fn shared<'b>(&self, b: &'b Builder<'c>, element: Type<'c>, length: i64) -> V<'b, 'c> {
        let top = self.body.body().and_then(|block| block.first_operation());
        match top {
            Some(first) => b.at(InsertionPoint::Before(first), || b.shared(element, length)),
            None => b.shared(element, length),
        }
    }

    /// A barrier, where an earlier run may still be reading.
    pub fn settle(&self, b: &Builder<'c>) {
        if self.is_repeated {
            b.sync();
        }
    }
}

/// The totals of a block's subgroups, in shared memory.
struct Totals<'b, 'c, 'f> {
    b: &'b Builder<'c>,
    fold: &'f Fold<'c>,
    slots: Vec<V<'b, 'c>>,
    wave: i64,
    subgroups: i64,
}

impl<'b, 'c, 'f> Totals<'b, 'c, 'f> {
    /// Writes each subgroup's total, which the lane where `has_it` holds knows,
    /// and waits until all are there.
    fn share(
        b: &'b Builder<'c>,
        fold: &'f Fold<'c>,
        block: &Block<'c>,
        wave: i64,
        total: &[V<'b, 'c>],
        has_it: V<'b, 'c>,
    ) -> Self {
        let subgroups = block.threads / wave;
        let slots: Vec<_> = total
            .iter()
            .map(|v| block.shared(b, v.ty(), subgroups))
            .collect();
        block.settle(b);
        b.if_(has_it, || {
            let own = b.subgroup_id().to_index();
            for (slot, value) in slots.iter().zip(total) {
                slot.store(&[own], *value);
            }
        });
        b.sync();
        Self {
            b,
            fold,
            slots,
            wave,
            subgroups,
        }
    }

    fn load(&self, at: V<'b, 'c>) -> Vec<V<'b, 'c>> {
        self.slots.iter().map(|slot| slot.at(at)).collect()
    }

    /// Whether a subgroup has a lane for each total.
    fn fit(&self) -> bool {
        self.subgroups <= self.wave
    }

    /// In each lane the total of that number, from `first` on; the identity
    /// where there is none. With how many lanes there are in a tile of them.
    fn lanes(&self, first: V<'b, 'c>) -> (Vec<V<'b, 'c>>, i64) {
        let b = self.b;
        let lane = b.lane_id();
        if self.subgroups.count_ones() == 1 && self.fit() {
            // A tile of just as many lanes: none is without a total.
            let at = (lane & (self.subgroups - 1)).to_index();
            return (self.load(at), self.subgroups);
        }
        let at = first + lane.to_index();
        if self.subgroups % self.wave == 0 {
            return (self.load(at), self.wave);
        }
        let there = at.lt(self.subgroups);
        let values = b.if_else(there, || self.load(at), || self.fold.identity(b));
        (values, self.wave)
    }

    /// The combination of all, in every lane of the subgroup that asks.
    fn combined(&self) -> Vec<V<'b, 'c>> {
        let (b, fold) = (self.b, self.fold);
        let start = self.reduced(b.index(0));
        if self.fit() {
            return start;
        }
        let (upper, step) = (b.index(self.subgroups), b.index(self.wave));
        b.for_(step, upper, step, start, |first, before| {
            fold.apply(b, &before, &self.reduced(first))
        })
    }

    /// The combination of as many as there are lanes, from `first` on. Tiles of
    /// as many lanes as there are totals all have the same.
    fn reduced(&self, first: V<'b, 'c>) -> Vec<V<'b, 'c>> {
        let (b, fold) = (self.b, self.fold);
        let (values, size) = self.lanes(first);
        if self.subgroups % size == 0 {
            return fold.collective(b, "reduce_all", &values, size);
        }
        // Up to the last lane that has a total: the identity is never combined
        // with, for some are only nearly one (-0 + 0).
        let inclusive = fold.collective(b, "inclusive_scan", &values, size);
        let last = (b.index(self.subgroups - 1) - first).min(size - 1);
        shuffle(b, "idx", &inclusive, last.to_i32())
    }

    /// In each subgroup the combination of the totals before its own; in the
    /// first the identity.
    fn before(&self) -> Vec<V<'b, 'c>> {
        let (b, fold) = (self.b, self.fold);
        let own = b.subgroup_id();
        if self.fit() {
            let (values, size) = self.lanes(b.index(0));
            let scanned = fold.collective(b, "exclusive_scan", &values, size);
            return shuffle(b, "idx", &scanned, own);
        }
        b.if_(own.eq(0), || {
            let upper = b.index(self.subgroups);
            let step = b.index(self.wave);
            let lane = b.lane_id();
            b.for_(b.index(0), upper, step, fold.identity(b), |first, carry| {
                let (values, size) = self.lanes(first);
                let inclusive = fold.collective(b, "inclusive_scan", &values, size);
                let below = shuffle(b, "up", &inclusive, b.i32(1));
                let (is_first, is_start) = (lane.eq(0), first.eq(0));
                let alone = select(is_first, &carry, &below);
                let there = !(is_first | is_start);
                let carried = fold.apply_where(b, there, &carry, &below, &alone);
                let at = first + lane.to_index();
                b.if_(at.lt(self.subgroups), || {
                    for (slot, value) in self.slots.iter().zip(&carried) {
                        slot.store(&[at], *value);
                    }
                });
                let last = shuffle(b, "idx", &inclusive, b.i32(self.wave as i32 - 1));
                fold.apply_where(b, !is_start, &carry, &last, &last)
            });
        });
        b.sync();
        self.load(own.to_index())
    }
}

/// How a subgroup's own total is made: in its first lane, by shuffles down, or in all, by a butterfly. The first lane has
/// the same either way.
#[derive(Clone, Copy)]
pub(super) enum Own {
    First,
    All,
}

impl Own {
    fn of<'b, 'c>(
        self,
        b: &'b Builder<'c>,
        fold: &Fold<'c>,
        op: Op<'c>,
        setting: &Setting,
    ) -> Vec<V<'b, 'c>> {
        let name = match self {
            Self::First => "reduce",
            Self::All => "reduce_all",
        };
        fold.collective(b, name, &fold.values(b, op), setting.wave)
    }
}

pub(super) fn reduce<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
    own: Own,
) -> Result<'c, Vec<Value<'c>>> {
    let (fold, block) = (Fold::of(op), Block::of(op)?);
    let own = own.of(b, &fold, op, setting);
    if block.threads == setting.wave {
        return Ok(raw(&own));
    }
    let leads = b.lane_id().eq(0);
    let totals = Totals::share(b, &fold, &block, setting.wave, &own, leads);
    // Thread 0, which alone needs the result, is in the first subgroup.
    let first = b.subgroup_id().eq(0);
    Ok(raw(&b.if_else(first, || totals.combined(), || own.clone())))
}

pub(super) fn reduce_all<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
    own: Own,
) -> Result<'c, Vec<Value<'c>>> {
    let (fold, block) = (Fold::of(op), Block::of(op)?);
    if block.threads == setting.wave {
        return Ok(raw(&fold.collective(
            b,
            "reduce_all",
            &fold.values(b, op),
            setting.wave,
        )));
    }
    let own = own.of(b, &fold, op, setting);
    let leads = b.lane_id().eq(0);
    let totals = Totals::share(b, &fold, &block, setting.wave, &own, leads);
    if totals.fit() {
        return Ok(raw(&totals.combined()));
    }
    b.if_(b.subgroup_id().eq(0), || {
        let combined = totals.combined();
        b.if_(b.lane_id().eq(0), || {
            for (slot, value) in totals.slots.iter().zip(&combined) {
                slot.store(&[b.index(0)], *value);
            }
        });
    });
    b.sync();
    Ok(raw(&totals.load(b.index(0))))
}

pub(super) fn inclusive_scan<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let (fold, block) = (Fold::of(op), Block::of(op)?);
    let own = fold.collective(b, "inclusive_scan", &fold.values(b, op), setting.wave);
    if block.threads == setting.wave {
        return Ok(raw(&own));
    }
    let before = before(b, &fold, &block, setting, &own);
    let later = b.subgroup_id().ne(0);
    Ok(raw(&fold.apply_where(b, later, &before, &own, &own)))
}

pub(super) fn exclusive_scan<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let (fold, block) = (Fold::of(op), Block::of(op)?);
    let values = fold.values(b, op);
    if block.threads == setting.wave {
        return Ok(raw(&fold.collective(
            b,
            "exclusive_scan",
            &values,
            setting.wave,
        )));
    }
    let inclusive = fold.collective(b, "inclusive_scan", &values, setting.wave);
    let before = before(b, &fold, &block, setting, &inclusive);
    let below = shuffle(b, "up", &inclusive, b.i32(1));
    let (is_first_lane, is_first) = (b.lane_id().eq(0), b.subgroup_id().eq(0));
    let there = !(is_first_lane | is_first);
    let alone = select(is_first_lane, &before, &below);
    let combined = fold.apply_where(b, there, &before, &below, &alone);
    let nothing = is_first & is_first_lane;
    Ok(raw(&select(nothing, &fold.identity(b), &combined)))
}

/// The combination of all subgroups before this one; `inclusive` is each
/// subgroup's own scan.
fn before<'b, 'c>(
    b: &'b Builder<'c>,
    fold: &Fold<'c>,
    block: &Block<'c>,
    setting: &Setting,
    inclusive: &[V<'b, 'c>],
) -> Vec<V<'b, 'c>> {
    let is_last = b.lane_id().eq(setting.wave - 1);
    Totals::share(b, fold, block, setting.wave, inclusive, is_last).before()
}
