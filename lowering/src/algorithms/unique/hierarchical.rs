//! Unique by a scan of the heads.
//!
//! An exclusive scan gives for each element the number of heads before it, which is its
//! place in the output if it is a head. If the lengths of runs are wanted, the scan also
//! gives the position of the last of these heads, from which the length of the run before
//! follows. The thread of the last element ends the last run.
//!
//! Paper: Blelloch, Prefix Sums and Their Applications (1990), section on compaction;
//! the hierarchical sweep names its own.
//! Deviations: lengths are differences of neighbouring heads' positions, so that the scan
//! takes a maximum, and not a sum over each run.
//! Cost: reads each element four times (neighbours', cached); writes each run once.
//! 2D − 1 phases.

use super::{Unique, heads};
use crate::algorithms::{
    partials::Partials,
    sweep::{Form, Sweep, Total},
};
use qd_dialects::{builder::Builder, diagnostic::Result, ir::Op};

/// Builds 2D − 1 phases.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let unique = Unique::of(b, op);
    let sweep = Sweep {
        b,
        form: Form::Hierarchical,
        name: "unique",
        depth: unique.depth,
        capacity: unique.count.capacity,
        combiner: &heads(b, unique.counts.is_some()),
        inclusive: false,
        count: &|| unique.count.live(),
        load: &|i| {
            let is_head = unique.is_head(i);
            let mut scanned = vec![is_head.to_i32()];
            let none = || is_head.select(i.to_i32(), b.i32(0));
            scanned.extend(unique.counts.map(|_| none()));
            scanned
        },
        partials: &|| Partials::Together {
            buffer: unique.scratch,
            start: b.index(0),
        },
        total: Total::AtTheEnd(&|total| unique.end(total, unique.count.live())),
    };
    sweep.run(|element| {
        let before = element.scanned[0];
        // Threads beyond the last element have no head.
        b.if_(element.value[0].ne(0), || {
            let i = element.i;
            unique.output.set(before.to_index(), unique.input.at(i));
            if let [_, last] = element.scanned[..] {
                unique.set_length(before - 1, last, i.to_i32());
            }
        });
    });
    Ok(())
}
