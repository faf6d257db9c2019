//! Partition by a scan of the flags.
//!
//! An exclusive scan of the flags gives for each element the number of flagged
//! elements before it. A flagged element goes there. Any other element goes
//! after all flagged ones, by the number of unflagged elements before it. The
//! total number of flagged elements is known before the last phase, which reads
//! it from `num_out`.
//!
//! Paper: Blelloch, Prefix Sums and Their Applications (1990): `split`; the two
//! forms of sweep name their own.
//! Deviations: one scan instead of two, since the elements before the i-th are
//! flagged or unflagged; positions are never stored.
//! Cost: reads each flag twice and each element once, writes the latter once.

use super::Compact;
use crate::algorithms::sweep::{Form, Total};
use qd_dialects::{builder::Builder, diagnostic::Result, ir::Op};

/// Builds 2D − 1 phases, or at most 3 in chunks.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>, form: Form) -> Result<'c> {
    let partition = Compact::of(b, op);
    let total = Total::Before(&|total| partition.num_out.set_first(total[0]));
    partition.sweep(form, "partition", total, |element| {
        let flagged = match &element.total {
            Some(total) => total[0],
            None => partition.num_out.first(),
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
