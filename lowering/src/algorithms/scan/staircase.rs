//! Scan by up- and down-sweep of fixed depth. Portable: no block waits for
//! another.
//!
//! The sweep is `staircase::sweep`, which names the phases and the papers; here
//! it is of the input itself, and the result goes to the output.
//!
//! Deviations: one element a thread, as the formula for scratch demands; order
//! is kept, so the combiner need not commute.
//! Cost: reads each element twice, writes it once; 1/128 of that again for the
//! level above. 2D − 1 phases.

use super::Scan;
use crate::algorithms::staircase::{Partials, Sweep, capacity};
use qd_dialects::{builder::Builder, diagnostic::Result, ir::Op};

/// Builds 2D − 1 phases.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let scan = Scan::of(b, op);
    let sweep = Sweep {
        b,
        name: scan.name,
        depth: scan.depth as usize,
        capacity: capacity(b, scan.depth, scan.inputs[0]),
        combiner: &scan.combiner,
        inclusive: scan.inclusive,
        even_if_empty: false,
        count: &|| b.live_count(scan.count),
        load: &|i| scan.inputs.iter().map(|input| input.at(i)).collect(),
        partials: &|| Partials::Apart(scan.scratch.clone()),
        total: None,
    };
    sweep.run(|element| {
        b.if_(element.exists, || {
            for (output, value) in scan.outputs.iter().zip(&element.scanned) {
                output.set(element.i, *value);
            }
        });
    });
    Ok(())
}
