//! Reasons for the dependencies of a plan's steps: the effects of each on its operands,
//! for a module whose phases are outlined. A plan has the dependencies, and this their
//! reasons.

use super::plan::Planned;
use qd_artifact::{Step, StepKind};
use qd_dialects::ir::Op;
use qd_passes::{
    outline_phases::{self, kernels},
    plan::{
        access::{Access, Accesses, Effect, Functions, Root},
        hazard::conflicts,
    },
};
use std::collections::HashMap;

/// What is known of a kernel's steps, by their numbers.
#[derive(Default)]
pub struct Waits {
    /// What a step does with the memory that it names, in the order of its text.
    pub uses: HashMap<u64, Vec<Use>>,
    /// Why a step (the first) depends on another.
    pub reasons: HashMap<(u64, u64), Vec<Reason>>,
}

/// What a step does with memory.
pub struct Use {
    pub memory: Memory,
    pub effect: Effect,
}

/// Which memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// A kernel's argument.
    Argument(usize),
    /// Its control words.
    Control,
    /// None that the host knows.
    Unknown,
}

/// A reason for a dependency.
pub struct Reason {
    /// What it does: `reads what it writes`.
    pub what: &'static str,
    /// With what: its place among the uses of the step that waits.
    pub place: usize,
}

/// Of each of the module's kernels, whose plans these are.
pub fn waits<'c>(module: Op<'c>, planned: &[Planned]) -> Vec<Waits> {
    let mut functions = Functions::default();
    let mut all = Vec::new();
    for (op, kernel) in kernels(module).into_iter().zip(planned) {
        let mut waits = Waits::default();
        let mut accesses = Accesses::new(op, &mut functions);
        waits.add(op, &kernel.steps, &mut accesses);
        all.push(waits);
    }
    all
}

impl Waits {
    /// Adds the steps of one list, which are those of the sequence in their order.
    fn add<'c>(&mut self, sequence: Op<'c>, steps: &[Step], accesses: &mut Accesses<'c>) {
        let ops = outline_phases::steps(sequence);
        let mut done: HashMap<u64, Vec<Access>> = HashMap::new();
        for (op, step) in ops.into_iter().zip(steps) {
            let mine = accesses.of(op);
            for earlier in &step.after {
                let before = done.get(earlier).map_or(&[][..], Vec::as_slice);
                let mut reasons: Vec<Reason> = conflicts(before, &mine)
                    .map(|found| Reason {
                        what: found.what,
                        place: found.later,
                    })
                    .collect();
                reasons.dedup_by_key(|reason| (reason.place, reason.what));
                self.reasons.insert((step.id, *earlier), reasons);
            }
            let uses = mine.iter().map(|access| Use {
                memory: match access.root {
                    Root::Argument { index, .. } => Memory::Argument(index),
                    Root::Control(_) => Memory::Control,
                    Root::Unknown => Memory::Unknown,
                },
                effect: access.effect,
            });
            self.uses.insert(step.id, uses.collect());
            if let StepKind::DoWhile { steps, .. } | StepKind::If { steps, .. } = &step.kind {
                self.add(op, steps, accesses);
            }
            done.insert(step.id, mine);
        }
    }
}
