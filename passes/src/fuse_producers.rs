//! `qd-fuse-producers`: an elementwise phase that writes to scratch is recomputed where the scratch
//! is read, and removed.
//!
//! A map in front of a reduce, or a predicate in front of a select, is a `qd.grid.for_each` that
//! writes a buffer which the algorithm reads. As a launch of its own it costs a store and a load of
//! that buffer, and the launch. Here each plain load of the buffer becomes the computation of the
//! value that the phase would have stored there, from the phase's own loads. A `qd.grid.fill` from
//! the first element on is such a producer, too.
//!
//! The buffer has to be a kernel's argument with `qd.scratch`, so that no caller reads it. A load
//! of an element that was not written is undefined. So the producer's body ran for every element
//! that is loaded, and its loads for that element are in bounds: extents and live counts need not
//! be compared. The memory that the body loads must still hold the same values: no step from the
//! producer to the last reader writes any of it, readers included.
//!
//! Each load has to see one producer and nothing else. So all steps that write the buffer are
//! elementwise; each load comes after one of them in the same sequence of steps, or in a loop
//! there, with no other in between; and where there are several, or one that is repeated, all write
//! the same elements.
//!
//! Fusing may repeat work, as many algorithms read their input in more than one phase. The producer
//! stays if fusing would read more bytes than it saves, assuming that each phase reads each element
//! once; and if the body has loops, or more than 32 operations besides loads and constants.
//!
//! `print-plan` writes the decision about each producer, and why, to standard error.
//!
//! Limits: rows, views of the buffer, and stores under a condition are not fused. Prefetches of the
//! buffer become prefetches of the producer's loads at the same index, and are dropped where there
//! are none.
//!
//! Before:
//! ```mlir
//! qd.grid.for_each "square" %i to %len { %v = LOAD(%x[%i])  %w = arith.mulf %v, %v  WRITES(%w, %y[%i]) }
//! qd.grid.phase "reduce" blocks(%g) threads(256) { %w = LOAD(%y[%j]) ... }
//! ```
//! After:
//! ```mlir
//! qd.grid.phase "reduce" blocks(%g) threads(256) { %v = LOAD(%x[%j])  %w = arith.mulf %v, %v ... }
//! ```

mod producer;
mod reach;

use crate::{
    fuse_phases::name_of,
    outline_phases::kernels,
    plan::access::{Access, Accesses, Functions},
};
use producer::Producer;
use qd_dialects::{
    argument_attributes, attributes,
    attributes::names,
    diagnostic::Result,
    ir::{Key, Op, OpExt, Value, ValueExt},
    ops::grid,
    options,
    pass::Pass,
};
use reach::{Reach, Uses};
use std::{collections::HashSet, fmt::Write};

options! {
    /// Options of `qd-fuse-producers`.
    pub struct FuseProducersOptions {
        /// write for each producer whether it is fused, and why, to standard error
        print_plan: bool = false,
    }
}

/// The pass.
pub struct FuseProducers;

impl Pass for FuseProducers {
    type Options = FuseProducersOptions;
    const NAME: &'static str = "qd-fuse-producers";
    const SUMMARY: &'static str =
        "Fuse elementwise phases that write scratch into the phases that read it";

    fn run<'c>(module: Op<'c>, options: &FuseProducersOptions) -> Result<'c> {
        let mut printed = String::new();
        let mut functions = Functions::default();
        for kernel in kernels(module) {
            let lines = fuse(kernel, &mut functions, options.print_plan);
            if lines.is_empty() {
                continue;
            }
            let name = kernel.attr("sym_name").and_then(attributes::text);
            let _ = writeln!(printed, "producers of @{}:", name.unwrap_or_default());
            for line in lines {
                let _ = writeln!(printed, "  {line}");
            }
        }
        if options.print_plan {
            eprint!("{printed}");
        }
        Ok(())
    }
}

/// Fuses the producers of a kernel into the steps that read their results. Returns the decision
/// about each, in program order, and if `all` is set, also those that may not be fused.
fn fuse<'c>(kernel: Op<'c>, functions: &mut Functions<'c>, all: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut accesses = Accesses::new(kernel, functions);
    let mut producers = kernel.nested();
    producers.retain(|step| step.is(grid::ForEach::NAME) || step.is(grid::Fill::NAME));
    for step in producers {
        let name = name_of(step);
        let mut is_done = false;
        for (index, buffer) in producer::written(kernel, step) {
            let what = format!("argument {index}");
            let is_scratch = argument_attributes::has(kernel, index, names::SCRATCH);
            if !is_scratch && !all {
                continue;
            }
            let uses = Uses::of(kernel, buffer, &what);
            if !is_scratch {
                if uses.is_ok_and(|uses| uses.are_behind(step)) {
                    lines.push(format!("\"{name}\" stays: {what} is not 'qd.scratch'"));
                }
                continue;
            }
            let fusion =
                uses.and_then(|uses| Fusion::of(step, buffer, &what, &uses, &mut accesses));
            lines.push(match fusion {
                Ok(fusion) => {
                    is_done = fusion.producer.is_alone();
                    let into = fusion.apply();
                    match into.is_empty() {
                        true => format!("\"{name}\" is not needed: no step loads {what}"),
                        false => format!("\"{name}\" goes into {}", into.join(", ")),
                    }
                }
                Err(why) => format!("\"{name}\" stays: {why}"),
            });
        }
        if is_done {
            step.erase();
        }
    }
    lines
}

/// A producer and its readers.
struct Fusion<'c> {
    producer: Producer<'c>,
    reach: Reach<'c>,
}

impl<'c> Fusion<'c> {
    /// For a step that writes a scratch buffer; or why it cannot be fused.
    fn of(
        step: Op<'c>,
        buffer: Value<'c>,
        what: &str,
        uses: &Uses<'c>,
        accesses: &mut Accesses<'c>,
    ) -> std::result::Result<Self, String> {
        let producer = Producer::of(step, buffer, what)?;
        let reach = uses.reach(step, what, accesses)?;
        let fusion = Self { producer, reach };
        fusion.check_sources(accesses)?;
        fusion.check_cost()?;
        Ok(fusion)
    }

    /// Whether the body's loads have the same results at all readers.
    fn check_sources(&self, accesses: &mut Accesses<'c>) -> std::result::Result<(), String> {
        let step = self.producer.step;
        if self.producer.loads() == 0 {
            return Ok(());
        }
        let given = self.producer.given();
        let own = accesses.of_captured(step);
        let is_source =
            |known: &Option<Value<'c>>| known.is_some_and(|value| given.contains(&value.key()));
        let sources: Vec<Access> = (own.iter().filter(|(known, _)| is_source(known)))
            .map(|(_, access)| access.as_read())
            .collect();
        let written = |others: &[Access]| {
            let both = |source: &Access| others.iter().any(|other| source.conflicts(other));
            sources
                .iter()
                .find(|source| both(source))
                .map(|source| source.root)
        };
        let own: Vec<Access> = own.into_iter().map(|(_, access)| access).collect();
        if let Some(root) = written(&own) {
            return Err(format!("it reads and writes {root}"));
        }
        for between in &self.reach.between {
            if let Some(root) = written(&accesses.of(*between)) {
                return Err(format!(
                    "\"{}\" writes {root}, which it reads",
                    name_of(*between)
                ));
            }
        }
        Ok(())
    }

    /// Whether fusing moves fewer bytes, although the body's loads are repeated.
    fn check_cost(&self) -> std::result::Result<(), String> {
        let phases: HashSet<Key> = self
            .reach
            .loads
            .iter()
            .map(|read| read.phase.key())
            .collect();
        let (phases, own, loaded) = (
            phases.len() as u64,
            self.producer.bytes(),
            self.producer.loads(),
        );
        let apart = own + phases * own + if self.producer.is_alone() { loaded } else { 0 };
        let fused = phases * loaded;
        if fused > apart || (self.reach.is_repeated && loaded > own) {
            let phases = match phases {
                1 => "1 phase".into(),
                _ => format!("{phases} phases"),
            };
            return Err(format!(
                "loading {loaded} bytes an element instead of {own} in {phases} costs more than it saves"
            ));
        }
        Ok(())
    }

    /// Computes it at each reader. Yields these phases' names.
    fn apply(self) -> Vec<String> {
        let Self { producer, reach } = self;
        let mut names: Vec<String> = Vec::new();
        for hint in &reach.hints {
            producer.hint_instead(hint.op, hint.phase);
        }
        for load in &reach.loads {
            let name = format!("\"{}\"", name_of(load.phase));
            if !names.contains(&name) {
                names.push(name);
            }
            producer.compute_instead(load.op);
        }
        producer.drop_store();
        names
    }
}
