//! What `qd.algo.select` and `qd.algo.partition` have in common: what they say, a
//! scan of the flags, two passes over subgroup tiles, and how a subgroup tile is packed.

mod masks;
pub(super) mod pack;
pub(super) mod reduce_then_scan;
pub(super) mod subgroup_tile;

use super::{
    levels::Count,
    partials::Partials,
    sweep::{Element, Form, Sweep, Total},
};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    ir::{Op, OpExt},
};

/// Lanes of the smallest subgroup there is.
pub(super) const FEWEST_LANES: i64 = 4;

/// Bytes of an element that goes by shared memory, at most.
pub(super) const STAGED_BYTES: i64 = 8;

/// `⌈a / b⌉` of what is far below the largest number there is: less to compute than
/// of any number.
fn ceil_div<'b, 'c>(a: V<'b, 'c>, b: V<'b, 'c>) -> V<'b, 'c> {
    (a + (b - 1)) / b
}

/// Their operands.
pub(super) struct Compact<'b, 'c> {
    pub input: V<'b, 'c>,
    pub flags: V<'b, 'c>,
    pub output: V<'b, 'c>,
    /// Of rank 0, or of rank 1 and at least one element.
    pub num_out: V<'b, 'c>,
    pub scratch: V<'b, 'c>,
    pub count: Count<'b, 'c>,
    pub depth: u32,
}

impl<'b, 'c> Compact<'b, 'c> {
    pub fn of(b: &'b Builder<'c>, op: Op<'c>) -> Self {
        let operand = |i: usize| b.v(op.operand_values()[i]);
        let depth = super::depth(op);
        Self {
            input: operand(0),
            flags: operand(1),
            output: operand(2),
            num_out: operand(3),
            scratch: operand(4),
            count: Count::new(b, operand(5), depth, (0..3).map(operand)),
            depth,
        }
    }

    /// Flag `i`, in a phase: 1 for whatever is not 0, as a number to add up, `i32`.
    pub fn flag(&self, i: V<'b, 'c>) -> V<'b, 'c> {
        self.flags.at(i).ne(0).to_i32()
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
            capacity: self.count.capacity,
            combiner: &Combiner::kind(b.context(), Kind::Add, b.int_type(32)),
            inclusive: false,
            count: &|| self.count.live(),
            load: &|i| vec![self.flag(i)],
            partials: &|| Partials::Separate(vec![self.scratch]),
            total,
        };
        sweep.run(last);
    }
}
