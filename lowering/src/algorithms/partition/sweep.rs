//! Partition by a scan of the flags.
//!
//! An exclusive scan of the flags says for each element how many flagged ones
//! stand before it. A flagged element goes there; any other goes behind all
//! flagged ones, by how many unflagged ones stand before it. How many flagged
//! ones there are in all is known before the last phase, which reads it where
//! it was to be written: from `num_out`.
//!
//! Paper: Blelloch, Prefix Sums and Their Applications (1990): `split`; the
//! two forms of sweep name their own.
//! Deviations: one scan instead of two, since of `i` elements before the i-th
//! those that are not flagged are unflagged; positions are never stored.
//! Cost: reads each flag twice and each element once, writes the latter once.

use super::Compact;
use crate::algorithms::{
    levels::capacity,
    partials::Partials,
    sweep::{Ahead, Form, Sweep, Total},
};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner},
    diagnostic::Result,
    ir::Op,
};

/// Builds 2D − 1 phases, at most 3 in chunks, or a fill and 2 phases.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>, form: Form) -> Result<'c> {
    let partition = Compact::of(b, op);
    let sweep = Sweep {
        b,
        form,
        name: "partition",
        depth: partition.depth,
        capacity: capacity(b, partition.depth, partition.flags),
        combiner: &Combiner::kind(b.context(), Kind::Add, b.int_type(32)),
        inclusive: false,
        count: &|| b.live_count(partition.count),
        load: &|i| vec![partition.flags.at(i)],
        ahead: match partition.input.row_length() {
            Some(_) => Ahead::nothing(),
            None => Ahead {
                types: vec![partition.input.element()],
                load: &|i, _| vec![partition.input.at(i)],
            },
        },
        partials: &|| Partials::Apart(vec![partition.scratch]),
        total: Total::Before(&|total| partition.num_out.set_first(total[0])),
    };
    sweep.run(|element| {
        let flagged = match &element.total {
            Some(total) => total[0],
            None => partition.num_out.first(),
        };
        let before = element.scanned[0];
        let others = flagged + (element.i.to_i32() - before);
        let to = element.value[0].ne(0).select(before, others).to_index();
        b.if_(element.exists, || match element.ahead.as_deref() {
            Some([value]) => partition.output.set(to, *value),
            _ => partition
                .output
                .copy_element(to, partition.input, element.i),
        });
    });
    Ok(())
}
