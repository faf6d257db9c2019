//! `qd-expand-algorithms`: every `qd.algo` op becomes the phases of one of its
//! strategies, where it stands.
//!
//! The target's capabilities choose the strategy, unless the op names one. The
//! result is legal wherever the op was: phases and fills, with grids that are
//! expressions over buffer lengths and the capacity, and never the count. An op that is `checked`
//! gets a phase before it, with assertions.
//! `qd.algo.scratch_slots` becomes arithmetic.

use super::{ALGORITHMS, Algorithm, checked, scratch, widen};
use crate::targets::{Capabilities, Target};
use qd_dialects::{
    attributes::{self, names},
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, context_of},
    melior::dialect::DialectHandle,
    ops::{algo, grid},
    options,
    pass::Pass,
};
use std::iter;

options! {
    /// Options of `qd-expand-algorithms`.
    pub struct ExpandOptions {
        /// the target that the phases are for, such as cpu; any: phases that run on every target
        target: String = "any",
    }
}

/// `qd-expand-algorithms`.
pub struct ExpandAlgorithms;

impl Pass for ExpandAlgorithms {
    type Options = ExpandOptions;
    const NAME: &'static str = "qd-expand-algorithms";
    const SUMMARY: &'static str = "Expand device-wide algorithms to phases";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            DialectHandle::cf(),
            DialectHandle::gpu(),
            DialectHandle::memref(),
            DialectHandle::scf(),
        ]
    }

    fn run<'c>(op: Op<'c>, options: &ExpandOptions) -> Result<'c> {
        let target = Target::parse(&options.target)
            .map_err(|message| Diagnostic::new(op.location(), message))?;
        let (mut sizes, mut algorithms) = (Vec::new(), Vec::new());
        for op in op.nested() {
            if op.is(algo::ScratchSlots::NAME) {
                sizes.push(op);
            } else if let Some(algorithm) = ALGORITHMS.iter().find(|a| op.is(a.op)) {
                algorithms.push((op, algorithm));
            }
        }
        // Sizes first, wherever they are: an expansion erases ops.
        let sizes = sizes.into_iter().map(scratch::expand);
        let phases = algorithms
            .into_iter()
            .map(|(op, algorithm)| expand(op, algorithm, &target.capabilities));
        let mut errors: Vec<_> = sizes.chain(phases).filter_map(Result::err).collect();
        // All errors are emitted; the last one fails the pass.
        let last = errors.pop();
        errors.into_iter().for_each(Diagnostic::emit);
        last.map_or(Ok(()), Err)
    }
}

/// Expands an algorithm.
fn expand<'c>(op: Op<'c>, algorithm: &Algorithm, capabilities: &Capabilities) -> Result<'c> {
    if op.attr("checked").is_some() {
        checked::check(op);
    }
    let views = widen::widen(op);
    let strategy = algorithm.choose(op, capabilities)?;
    tracing::debug!(op = algorithm.op, strategy = strategy.name, "expand");
    let before = op.previous_in_block();
    (strategy.expand)(&Builder::before(op).remembering(), op, capabilities)?;
    let made = iter::successors(op.previous_in_block(), |op| op.previous_in_block());
    for step in made.take_while(|step| Some(step.key()) != before.map(|op| op.key())) {
        allow_any_size(step);
    }
    op.erase();
    widen::resolve(views)
}

/// Results of algorithms are the same at every size of subgroups, or are promised to nobody (the rounding of floats).
fn allow_any_size(step: Op<'_>) {
    let any = attributes::string(context_of(step), "any");
    let phases = step.nested().into_iter().chain([step]);
    phases
        .filter(|op| op.is(grid::Phase::NAME))
        .for_each(|phase| phase.set_attr(names::WAVE, any));
}
