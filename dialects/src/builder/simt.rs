//! Subgroup and block operations.

use super::{Builder, Combiner, V, Values};
use crate::ops::{LaneRelation, math, simt};
use crate::{attributes, ir::OpExt};
use melior::ir::Type;

impl<'c> Builder<'c> {
    fn identity_op(&self, name: &'static str, r#type: Type<'c>) -> V<'_, 'c> {
        self.once(r#type, name, 0, || self.result(name, &[], r#type, &[]))
    }

    /// This block's number.
    pub fn block_id(&self) -> V<'_, 'c> {
        self.identity_op(simt::BlockId::NAME, self.index_type())
    }

    /// Threads in a block.
    pub fn block_dim(&self) -> V<'_, 'c> {
        self.identity_op(simt::BlockDim::NAME, self.index_type())
    }

    /// This thread's number in its block.
    pub fn thread_id(&self) -> V<'_, 'c> {
        self.identity_op(simt::BlockThreadId::NAME, self.index_type())
    }

    /// Blocks in the grid.
    pub fn grid_dim(&self) -> V<'_, 'c> {
        self.identity_op(simt::GridDim::NAME, self.index_type())
    }

    /// This lane's number in its subgroup, `i32`.
    pub fn lane_id(&self) -> V<'_, 'c> {
        self.identity_op(simt::LaneId::NAME, self.int_type(32))
    }

    /// This subgroup's number in its block, `i32`.
    pub fn subgroup_id(&self) -> V<'_, 'c> {
        self.identity_op(simt::SubgroupId::NAME, self.int_type(32))
    }

    /// Lanes in a subgroup, `i32`.
    pub fn subgroup_size(&self) -> V<'_, 'c> {
        self.identity_op(simt::SubgroupSize::NAME, self.int_type(32))
    }

    /// Subgroups in a block, `i32`.
    pub fn num_subgroups(&self) -> V<'_, 'c> {
        self.identity_op(simt::NumSubgroups::NAME, self.int_type(32))
    }

    /// Backoff: a hint that the subgroup has nothing to do for about
    /// `nanoseconds`.
    pub fn pause(&self, nanoseconds: i32) {
        let nanoseconds = attributes::i32(self.context(), nanoseconds);
        self.op(simt::Pause::NAME, &[], &[], &[("nanoseconds", nanoseconds)]);
    }

    /// Block barrier.
    pub fn sync(&self) {
        self.op(simt::BlockSync::NAME, &[], &[], &[]);
    }

    /// Subgroup barrier.
    pub fn subgroup_sync(&self) {
        self.op(simt::Sync::NAME, &[], &[], &[]);
    }

    /// `mode`: `idx`, `up`, `down` or `xor`.
    pub fn shuffle<'b>(&'b self, mode: &str, value: V<'b, 'c>, lane: V<'b, 'c>) -> V<'b, 'c> {
        self.result(
            simt::Shuffle::NAME,
            &[value, lane],
            value.ty(),
            &[(
                "mode",
                attributes::case(self.context(), "shuffle_mode", mode),
            )],
        )
    }

    /// As [`Self::shuffle`] `up` or `down`, for results that are not used where no lane is read.
    pub fn shuffle_in_range<'b>(
        &'b self,
        mode: &str,
        value: V<'b, 'c>,
        lane: V<'b, 'c>,
    ) -> V<'b, 'c> {
        let context = self.context();
        self.result(
            simt::Shuffle::NAME,
            &[value, lane],
            value.ty(),
            &[
                ("mode", attributes::case(context, "shuffle_mode", mode)),
                ("in_range", attributes::unit(context)),
            ],
        )
    }

    /// Mask of the lanes where `predicate` holds, `i64`.
    pub fn ballot<'b>(&'b self, predicate: V<'b, 'c>) -> V<'b, 'c> {
        self.result(simt::Ballot::NAME, &[predicate], self.int_type(64), &[])
    }

    /// Mask of the lanes whose lowest `bits` bits are this lane's, `i64`.
    pub fn match_any<'b>(&'b self, value: V<'b, 'c>, bits: u32) -> V<'b, 'c> {
        let bits = attributes::i32(self.context(), bits as i32);
        let mask = self.int_type(64);
        self.result(simt::MatchAny::NAME, &[value], mask, &[("bits", bits)])
    }

    /// Mask of the lanes below `lane`, `i64`.
    pub fn lanemask_lt<'b>(&'b self, lane: V<'b, 'c>) -> V<'b, 'c> {
        self.result(
            simt::Lanemask::NAME,
            &[lane],
            self.int_type(64),
            &[("relation", LaneRelation::Lt.attribute(self.context()))],
        )
    }

    /// Set bits, `i32`.
    pub fn popcnt<'b>(&'b self, value: V<'b, 'c>) -> V<'b, 'c> {
        self.result(math::Popcnt::NAME, &[value], self.int_type(32), &[])
    }

    /// Leading zero bits, `i32`.
    pub fn clz<'b>(&'b self, value: V<'b, 'c>) -> V<'b, 'c> {
        self.result(math::Clz::NAME, &[value], self.int_type(32), &[])
    }

    /// A combining collective of the subgroup (`reduce`, `inclusive_scan`, …) or
    /// of the block (`block.reduce`, …).
    pub fn combine<'b, T: Values<'b, 'c>>(
        &'b self,
        op: &str,
        combiner: &Combiner<'c>,
        values: T,
    ) -> T {
        let operands: Vec<_> = values.to_vec().iter().map(|v| v.value()).collect();
        let op = self.insert(combiner.build(
            &format!("{}{op}", simt::PREFIX),
            self.location(),
            &operands,
        ));
        T::from_vec(self.vs(&op.result_values()))
    }

    /// Stable rank of `digit` in the block among the threads where `valid`
    /// holds; counts and exclusive prefix of the digits in shared memory.
    pub fn radix_rank<'b>(
        &'b self,
        digit: V<'b, 'c>,
        histogram: V<'b, 'c>,
        prefix: V<'b, 'c>,
        valid: V<'b, 'c>,
        radix_bits: i32,
    ) -> V<'b, 'c> {
        self.result(
            simt::BlockRadixRank::NAME,
            &[digit, histogram, prefix, valid],
            self.int_type(32),
            &[("radix_bits", attributes::i32(self.context(), radix_bits))],
        )
    }
}
