//! What `qd.algo.select` and `qd.algo.partition` have in common: what they say,
//! a scan of the flags, and one pass over large tiles.

pub(super) mod lookback;

use super::{
    levels::capacity,
    partials::Partials,
    sweep::{Element, Form, Sweep, Total},
};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    ir::{Op, OpExt},
};

/// Their operands.
pub(super) struct Compact<'b, 'c> {
    pub input: V<'b, 'c>,
    pub flags: V<'b, 'c>,
    pub output: V<'b, 'c>,
    /// Of rank 0, or of rank 1 and at least one element.
    pub num_out: V<'b, 'c>,
    pub scratch: V<'b, 'c>,
    pub count: V<'b, 'c>,
    pub depth: u32,
}

impl<'b, 'c> Compact<'b, 'c> {
    pub fn of(b: &'b Builder<'c>, op: Op<'c>) -> Self {
        let operand = |i: usize| b.v(op.operand_values()[i]);
        Self {
            input: operand(0),
            flags: operand(1),
            output: operand(2),
            num_out: operand(3),
            scratch: operand(4),
            count: operand(5),
            depth: super::depth(op),
        }
    }

    /// An exclusive scan of the flags: for each element, how many flagged ones
    /// stand before it.
    pub fn sweep(
        &self,
        form: Form,
        name: &str,
        total: Total<'_, 'b, 'c>,
        last: impl Fn(&Element<'b, 'c>),
    ) {
        let b = self.flags.builder();
        let sweep = Sweep {
            b,
            form,
            name,
            depth: self.depth,
            capacity: capacity(b, self.depth, self.flags),
            combiner: &Combiner::kind(b.context(), Kind::Add, b.int_type(32)),
            inclusive: false,
            count: &|| b.live_count(self.count),
            load: &|i| vec![self.flags.at(i)],
            partials: &|| Partials::Apart(vec![self.scratch]),
            total,
        };
        sweep.run(last);
    }
}
