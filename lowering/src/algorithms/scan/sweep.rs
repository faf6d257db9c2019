//! Scan: a sweep over the input itself, whose result goes to the output.
//!
//! The forms of sweep name their phases, papers and costs. Order is kept,
//! so the combiner need not commute.
//!
//! Cost, besides: writes each element once.

use super::Scan;
use crate::algorithms::{
    partials::Partials,
    sweep::{Form, Sweep, Total},
};
use qd_dialects::{builder::Builder, diagnostic::Result, ir::Op};

/// Builds 2D − 1 phases, at most 2 in chunks, or a clear and a phase.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>, form: Form) -> Result<'c> {
    let scan = Scan::of(b, op);
    form.keeps_order(op, &scan.combiner)?;
    let sweep = Sweep {
        b,
        form,
        name: scan.name,
        depth: scan.depth,
        capacity: scan.count.capacity,
        combiner: &scan.combiner,
        inclusive: scan.inclusive,
        count: &|| scan.count.live(),
        load: &|i| scan.inputs.iter().map(|input| input.at(i)).collect(),
        partials: &|| Partials::Separate(scan.scratch.clone()),
        total: Total::Unused,
    };
    sweep.run(|element| {
        b.if_(element.exists, || scan.write(element.i, &element.scanned));
    });
    Ok(())
}
