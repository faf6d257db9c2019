//! What `qd.algo.select` and `qd.algo.partition` share: their operands, a scan of the
//! flags, two passes over subgroup tiles, and the packing of a subgroup tile.

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
    ir::Op,
    ops::algo,
};

/// Lanes of the smallest subgroup of any target.
pub(super) const FEWEST_LANES: i64 = 4;

/// The largest element, in bytes, that is staged in shared memory.
pub(super) const STAGED_BYTES: i64 = 8;

/// `⌈a / b⌉` for numbers far below the type's largest, which takes fewer operations.
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
        let said = algo::Compact::cast(op);
        let [input, flags, output] =
            [said.input(), said.flags(), said.output()].map(|buffer| b.v(buffer));
        let depth = super::depth(op);
        let buffers = [input, flags, output].into_iter();
        Self {
            input,
            flags,
            output,
            num_out: b.v(said.num_out()),
            scratch: b.v(said.scratch()),
            count: Count::new(b, b.v(said.count()), depth, buffers),
            depth,
        }
    }

    /// Flag `i`, in a phase: 1 if it is not 0, as an `i32` to add up.
    pub fn flag(&self, i: V<'b, 'c>) -> V<'b, 'c> {
        self.flags.at(i).ne(0).to_i32()
    }

    /// An exclusive scan of the flags: for each element, how many flagged elements stand
    /// before it.
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
