//! Select by a scan of the flags.
//!
//! An exclusive scan of the flags gives for each element the number of selected
//! elements before it, which is its place in the output. The thread of the last
//! element knows the total.
//!
//! Paper: Blelloch, Prefix Sums and Their Applications (1990), section on
//! compaction; the hierarchical strategy names its own.
//! Deviations: positions are used in the last phase of the scan, which computes
//! them, and never stored. So only the upper levels use scratch, and neither
//! the scatter nor the count is a phase of its own.
//! Cost: reads each flag twice and each selected element once; writes the
//! selected elements once.

use super::Compact;
use crate::algorithms::sweep::{Form, Total};
use qd_dialects::{builder::Builder, diagnostic::Result, ir::Op};

/// Builds 2D − 1 phases.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let select = Compact::of(b, op);
    let total = Total::AtTheEnd(&|total| select.num_out.set_first(total[0]));
    select.sweep(Form::Hierarchical, "select", total, |element| {
        let (flag, before) = (element.value[0], element.scanned[0]);
        // Threads beyond the last element have flag 0.
        b.if_(flag.ne(0), || {
            let to = before.to_index();
            select.output.copy_element(to, select.input, element.i);
        });
    });
    Ok(())
}
