//! Select by a scan of the flags.
//!
//! An exclusive scan of the flags says for each element how many selected ones
//! stand before it, which is where it goes; the thread of the last element
//! knows how many there are in all.
//!
//! Paper: Blelloch, Prefix Sums and Their Applications (1990), section on
//! compaction; the hierarchical strategy names its own.
//! Deviations: positions are used where they come out, in the last phase of the
//! scan, and never stored: of the scratch's formula only what the upper levels
//! take is used, and neither the scatter nor the count is a phase of its own.
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
        // Threads beyond the last element hold 0: no flag.
        b.if_(flag.ne(0), || {
            let to = before.to_index();
            select.output.copy_element(to, select.input, element.i);
        });
    });
    Ok(())
}
