//! Partition by a scan of the flags. Portable: no block waits for another.
//!
//! An exclusive scan of the flags says for each element how many flagged ones
//! stand before it. A flagged element goes there; any other goes behind all
//! flagged ones, by how many unflagged ones stand before it. How many flagged
//! ones there are in all is known before the last phase, which reads it where
//! it was to be written: from `num_out`.
//!
//! Paper: Blelloch, Prefix Sums and Their Applications (1990): `split`; the
//! sweep is `staircase::sweep`.
//! Deviations: one scan instead of two, since of `i` elements before the i-th
//! those that are not flagged are unflagged; positions are never stored.
//! Cost: reads each flag twice and each element once, writes the latter once.
//! 2D − 1 phases.

use super::Compact;
use crate::algorithms::staircase::{Element, Partials, Sweep, capacity};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::Op,
};

/// Builds 2D − 1 phases.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let partition = Compact::of(b, op);
    let add = Combiner::kind(b.context(), Kind::Add, b.int_type(32));
    let sweep = Sweep {
        b,
        name: "partition",
        depth: partition.depth as usize,
        capacity: capacity(b, partition.depth, partition.flags),
        combiner: &add,
        inclusive: false,
        even_if_empty: true,
        count: &|| b.live_count(partition.count),
        load: &|i| vec![partition.flags.at(i)],
        partials: &|| Partials::Apart(vec![partition.scratch]),
        total: Some(&|total| partition.num_out.set_first(total[0])),
    };
    sweep.run(|element| {
        let flagged = if partition.depth > 1 {
            partition.num_out.first()
        } else {
            only_tile(b, &partition, &add, element)
        };
        let before = element.scanned[0];
        let others = flagged + (element.i.to_i32() - before);
        let to = element.value[0].ne(0).select(before, others).to_index();
        b.if_(element.exists, || {
            partition
                .output
                .copy_element(to, partition.input, element.i);
        });
    });
    Ok(())
}

/// The number of flagged elements where one block holds them all; it is
/// written as well.
fn only_tile<'b, 'c>(
    b: &'b Builder<'c>,
    partition: &Compact<'b, 'c>,
    add: &Combiner<'c>,
    element: &Element<'b, 'c>,
) -> V<'b, 'c> {
    let [flagged] = b.combine("block.reduce_all", add, [element.value[0]]);
    b.if_(element.is_last(), || partition.num_out.set_first(flagged));
    flagged
}
