//! Which loads see the values that a step writes to a buffer.

use crate::{
    fuse_phases::name_of,
    outline_phases::steps,
    plan::access::{Accesses, Effect},
};
use qd_dialects::ir::{Key, Op, OpExt, Value, ValueExt};
use qd_dialects::ops::grid;

/// An operation that reads a buffer, and the phase it is in.
#[derive(Clone, Copy)]
pub struct Read<'c> {
    pub op: Op<'c>,
    pub phase: Op<'c>,
}

/// All accesses of a kernel to a buffer.
pub struct Uses<'c> {
    kernel: Op<'c>,
    loads: Vec<Read<'c>>,
    hints: Vec<Read<'c>>,
    /// The elementwise steps that write it.
    writers: Vec<Op<'c>>,
}

/// The reads of the elements that one step writes.
pub struct Reach<'c> {
    pub loads: Vec<Read<'c>>,
    /// Prefetches.
    pub hints: Vec<Read<'c>>,
    /// The steps after the writer up to the last that loads.
    pub between: Vec<Op<'c>>,
    /// Whether some load is in a loop that the writer is not in.
    pub is_repeated: bool,
}

impl<'c> Uses<'c> {
    /// Of a kernel's argument; or another use that prevents fusion.
    pub fn of(kernel: Op<'c>, buffer: Value<'c>, what: &str) -> Result<Self, String> {
        let mut uses = Self {
            kernel,
            loads: Vec::new(),
            hints: Vec::new(),
            writers: Vec::new(),
        };
        for op in kernel.nested() {
            let operands = op.operand_values();
            for place in (0..operands.len()).filter(|i| operands[*i].key() == buffer.key()) {
                let phase = phase_of(op);
                match (op.full_name(), place, phase) {
                    ("memref.dim", ..) => {}
                    ("memref.load", 0, Some(phase)) => uses.loads.push(Read { op, phase }),
                    ("memref.prefetch", 0, Some(phase)) => uses.hints.push(Read { op, phase }),
                    ("memref.store", 1, Some(step)) if step.is(grid::ForEach::NAME) => {
                        uses.add_writer(step);
                    }
                    (grid::Fill::NAME, 0, _) => uses.add_writer(op),
                    (name, ..) => {
                        let place =
                            phase.map_or(String::new(), |p| format!(" in \"{}\"", name_of(p)));
                        return Err(format!("'{name}'{place} accesses {what}"));
                    }
                }
            }
        }
        let both = |step: &&Op<'c>| uses.loads.iter().any(|read| read.phase.key() == step.key());
        if let Some(step) = uses.writers.iter().find(both) {
            return Err(format!("\"{}\" reads and writes {what}", name_of(*step)));
        }
        Ok(uses)
    }

    fn add_writer(&mut self, step: Op<'c>) {
        if self.writers.iter().all(|known| known.key() != step.key()) {
            self.writers.push(step);
        }
    }

    /// Whether any step loads the values that a step has written.
    pub fn are_behind(&self, step: Op<'c>) -> bool {
        let live_range = self.live_range(step);
        self.loads
            .iter()
            .any(|read| place_in(&live_range, read.op).is_some())
    }

    /// The live range of a writer's values: the steps after it, up to the next one that
    /// writes.
    fn live_range(&self, writer: Op<'c>) -> Vec<Op<'c>> {
        let sequence = writer.parent().map(steps).unwrap_or_default();
        let behind = sequence
            .into_iter()
            .skip_while(|step| step.key() != writer.key())
            .skip(1);
        behind
            .take_while(|step| !self.writers.iter().any(|other| is_in(*other, *step)))
            .collect()
    }

    /// The reads of the elements that a step writes; or why they are not known.
    pub fn reach(
        &self,
        writer: Op<'c>,
        what: &str,
        accesses: &mut Accesses<'c>,
    ) -> Result<Reach<'c>, String> {
        let ranges: Vec<Vec<Op<'c>>> = self.writers.iter().map(|w| self.live_range(*w)).collect();
        let mut reads = self.loads.iter().chain(&self.hints);
        let is_stray = |read: &&Read<'c>| ranges.iter().all(|s| place_in(s, read.op).is_none());
        if let Some(read) = reads.find(is_stray) {
            return Err(format!(
                "\"{}\" loads what others may have left in {what}",
                name_of(read.phase)
            ));
        }
        self.check_elements(what, accesses)?;

        let mut between = self.live_range(writer);
        let seen = |reads: &[Read<'c>]| -> Vec<Read<'c>> {
            let seen = |read: &&Read<'c>| place_in(&between, read.op).is_some();
            reads.iter().filter(seen).copied().collect()
        };
        let (loads, hints) = (seen(&self.loads), seen(&self.hints));
        let places = loads
            .iter()
            .chain(&hints)
            .filter_map(|read| place_in(&between, read.op));
        let upto = places.max().map_or(0, |last| last + 1);
        between.truncate(upto);
        let is_nested = |read: &Read<'c>| between.iter().all(|step| step.key() != read.phase.key());
        Ok(Reach {
            is_repeated: loads.iter().any(is_nested),
            loads,
            hints,
            between,
        })
    }

    /// Whether each step that writes the buffer overwrites all elements that earlier
    /// ones have written.
    fn check_elements(&self, what: &str, accesses: &mut Accesses<'c>) -> Result<(), String> {
        let first = self.writers[0];
        let is_once = |step: &Op<'c>| step.parent().map(OpExt::key) == Some(self.kernel.key());
        if self.writers.len() == 1 && is_once(&first) {
            return Ok(());
        }
        let (extent, count) = elements(first);
        for other in &self.writers[1..] {
            let (others_extent, others_count) = elements(*other);
            let same = accesses.host().equal(extent, others_extent)
                && count.map(|c| c.key()) == others_count.map(|c| c.key());
            if !same {
                return Err(format!("others write more or fewer elements of {what}"));
            }
        }
        let Some(count) = count else {
            return Ok(());
        };
        let read = accesses.access(count, Effect::READ);
        for step in steps(self.kernel) {
            if accesses
                .of(step)
                .iter()
                .any(|access| access.conflicts(&read))
            {
                return Err(format!(
                    "\"{}\" may change how many elements of {what} are written",
                    name_of(step)
                ));
            }
        }
        Ok(())
    }
}

/// Up to which element a step writes: its extent, and its live count.
fn elements<'c>(step: Op<'c>) -> (Value<'c>, Option<Value<'c>>) {
    // A producer that is a fill has bounds.
    if let Some(upper) = grid::Fill::of(step).and_then(|fill| fill.upper()) {
        return (upper, None);
    }
    let each = grid::ForEach::cast(step);
    (each.extent(), each.count())
}

/// The phase around an operation.
fn phase_of<'c>(op: Op<'c>) -> Option<Op<'c>> {
    std::iter::successors(op.parent(), |op| op.parent())
        .find(|op| op.is(grid::Phase::NAME) || op.is(grid::ForEach::NAME))
}

/// Whether an operation is another one or in it.
fn is_in<'c>(op: Op<'c>, around: Op<'c>) -> bool {
    let key: Key = around.key();
    std::iter::successors(Some(op), |op| op.parent()).any(|op| op.key() == key)
}

/// In which of the steps an operation is.
fn place_in<'c>(steps: &[Op<'c>], op: Op<'c>) -> Option<usize> {
    steps.iter().position(|step| is_in(op, *step))
}
