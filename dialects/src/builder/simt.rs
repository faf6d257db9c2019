//! Subgroup and block operations.

use super::{Builder, Combiner, V, Values};
use crate::{attributes, ir::OpExt};
use melior::ir::Type;

impl<'c> Builder<'c> {
    fn identity_op(&self, name: &'static str, r#type: Type<'c>) -> V<'_, 'c> {
        self.once(r#type, name, 0, || self.result(name, &[], r#type, &[]))
    }

    /// This block's number.
    pub fn block_id(&self) -> V<'_, 'c> {
        self.identity_op("qd.simt.block.id", self.index_type())
    }

    /// Threads in a block.
    pub fn block_dim(&self) -> V<'_, 'c> {
        self.identity_op("qd.simt.block.dim", self.index_type())
    }

    /// This thread's number in its block.
    pub fn thread_id(&self) -> V<'_, 'c> {
        self.identity_op("qd.simt.block.thread_id", self.index_type())
    }

    /// Blocks in the grid.
    pub fn grid_dim(&self) -> V<'_, 'c> {
        self.identity_op("qd.simt.grid.dim", self.index_type())
    }

    /// This lane's number in its subgroup, `i32`.
    pub fn lane_id(&self) -> V<'_, 'c> {
        self.identity_op("qd.simt.lane_id", self.int_type(32))
    }

    /// This subgroup's number in its block, `i32`.
    pub fn subgroup_id(&self) -> V<'_, 'c> {
        self.identity_op("qd.simt.subgroup_id", self.int_type(32))
    }

    /// Lanes in a subgroup, `i32`.
    pub fn subgroup_size(&self) -> V<'_, 'c> {
        self.identity_op("qd.simt.subgroup_size", self.int_type(32))
    }

    /// Subgroups in a block, `i32`.
    pub fn num_subgroups(&self) -> V<'_, 'c> {
        self.identity_op("qd.simt.num_subgroups", self.int_type(32))
    }

    /// Lets others run for about so many nanoseconds: a hint.
    pub fn pause(&self, nanoseconds: i32) {
        let nanoseconds = attributes::i32(self.context(), nanoseconds);
        self.op("qd.simt.pause", &[], &[], &[("nanoseconds", nanoseconds)]);
    }

    /// Block barrier.
    pub fn sync(&self) {
        self.op("qd.simt.block.sync", &[], &[], &[]);
    }

    /// Subgroup barrier.
    pub fn subgroup_sync(&self) {
        self.op("qd.simt.sync", &[], &[], &[]);
    }

    /// `mode`: `idx`, `up`, `down` or `xor`.
    pub fn shuffle<'b>(&'b self, mode: &str, value: V<'b, 'c>, lane: V<'b, 'c>) -> V<'b, 'c> {
        self.result(
            "qd.simt.shuffle",
            &[value, lane],
            value.ty(),
            &[(
                "mode",
                attributes::case(self.context(), "shuffle_mode", mode),
            )],
        )
    }

    /// Mask of the lanes where `predicate` holds, `i64`.
    pub fn ballot<'b>(&'b self, predicate: V<'b, 'c>) -> V<'b, 'c> {
        self.result("qd.simt.ballot", &[predicate], self.int_type(64), &[])
    }

    /// Mask of the lanes whose lowest `bits` bits are this lane's, `i64`.
    pub fn match_any<'b>(&'b self, value: V<'b, 'c>, bits: u32) -> V<'b, 'c> {
        let bits = attributes::i32(self.context(), bits as i32);
        let mask = self.int_type(64);
        self.result("qd.simt.match_any", &[value], mask, &[("bits", bits)])
    }

    /// Mask of the lanes below `lane`, `i64`.
    pub fn lanemask_lt<'b>(&'b self, lane: V<'b, 'c>) -> V<'b, 'c> {
        self.result(
            "qd.simt.lanemask",
            &[lane],
            self.int_type(64),
            &[(
                "relation",
                attributes::case(self.context(), "lane_relation", "lt"),
            )],
        )
    }

    /// Set bits, `i32`.
    pub fn popcnt<'b>(&'b self, value: V<'b, 'c>) -> V<'b, 'c> {
        self.result("qd.math.popcnt", &[value], self.int_type(32), &[])
    }

    /// Leading zero bits, `i32`.
    pub fn clz<'b>(&'b self, value: V<'b, 'c>) -> V<'b, 'c> {
        self.result("qd.math.clz", &[value], self.int_type(32), &[])
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
        let op = self.insert(combiner.build(&format!("qd.simt.{op}"), self.location(), &operands));
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
            "qd.simt.block.radix_rank",
            &[digit, histogram, prefix, valid],
            self.int_type(32),
            &[("radix_bits", attributes::i32(self.context(), radix_bits))],
        )
    }
}
