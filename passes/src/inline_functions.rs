//! `qd-inline-functions`: inlines every call, and removes all functions but
//! outlined bodies.
//!
//! No target keeps a call. On the cpu the threads of a block are iterations of
//! loops, which a collective in a function could not end. SPIR-V's functions take
//! no pointers to shared memory. Every analysis of a body, from uniformity to
//! hazards, would have to be interprocedural. So functions are inlined before all
//! other passes, callees first.
//!
//! An inlined op has both locations, its own and the call's. A shared array of the
//! function goes to the top of the phase, one for each call.
//!
//! Errors: recursion, with the calls that close the cycle; a function without a
//! body; control flow that is not structured; in a `qd.grid.for_each`, a function
//! with ops that are illegal there; more than a million inlined ops.
//!
//! Limits: a function that no kernel and no body calls is checked for recursion
//! alone. A function's address cannot be taken. A function with `qd.threads` stays,
//! whether or not it is launched.
//!
//! Before:
//! ```mlir
//! func.func private @twice(%x: f32) -> f32 {
//!   %y = arith.addf %x, %x : f32
//!   return %y : f32
//! }
//! ... %r = func.call @twice(%v) : (f32) -> f32
//! ```
//! After:
//! ```mlir
//! ... %r = arith.addf %v, %v : f32
//! ```

mod order;

use crate::{expand_prints::PRINT, select_subgroup_size::threads_of};
use order::{Functions, calls_in};
use qd_dialects::{
    attributes,
    clone::Mapping,
    diagnostic::{Diagnostic, Result},
    interfaces::Convergence,
    ir::{InsertionPoint, Key, Op, OpExt, Values, arguments, operations},
    melior::ir::Location,
    ops::{grid, simt},
    pass::{NoOptions, Pass},
};
use std::collections::HashMap;

/// The most ops that are inlined into one module.
const MOST_OPS: usize = 1_000_000;

/// The pass.
pub struct InlineFunctions;

impl Pass for InlineFunctions {
    type Options = NoOptions;
    const NAME: &'static str = "qd-inline-functions";
    const SUMMARY: &'static str = "Inline every call, and drop functions that are not bodies";

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let functions = Functions::new(module);
        if functions.is_empty() {
            return Ok(());
        }
        let ordered = functions.callees_first()?;
        let kernels = crate::outline_phases::kernels(module);
        let called = functions.reached_from(&kernels);
        let mut inliner = Inliner {
            functions: &functions,
            sizes: HashMap::new(),
            made: 0,
        };
        for function in ordered {
            if called.contains(&function.key()) {
                inliner.inline_in(function)?;
            }
        }
        for kernel in kernels {
            if inliner.inline_in(kernel)? > 0 && !kernel.verify() {
                let message = "is not valid with the functions that it calls inlined";
                return Err(Diagnostic::at(kernel, message));
            }
        }
        for function in functions.all() {
            if threads_of(function).is_none() {
                function.erase();
            }
        }
        Ok(())
    }
}

struct Inliner<'f, 'c> {
    functions: &'f Functions<'c>,
    /// How many ops each function holds, once its own calls are inlined.
    sizes: HashMap<Key, usize>,
    made: usize,
}

impl<'c> Inliner<'_, 'c> {
    /// Inlines the calls of a function or a kernel, whose callees call nothing any
    /// more. Yields their number.
    fn inline_in(&mut self, caller: Op<'c>) -> Result<'c, usize> {
        let calls = calls_in(caller);
        for call in &calls {
            let Some(callee) = self.functions.callee(*call) else {
                continue;
            };
            check(*call, callee)?;
            let size = self
                .sizes
                .entry(callee.key())
                .or_insert_with(|| callee.nested().len());
            self.made += *size;
            if self.made > MOST_OPS {
                let message = format!(
                    "makes inlining come to more than {MOST_OPS} ops: functions that call each \
                     other several times grow with every level"
                );
                return Err(Diagnostic::at(*call, message));
            }
            inline(*call, callee);
        }
        Ok(calls.len())
    }
}

/// Whether a call can be inlined.
fn check<'c>(call: Op<'c>, callee: Op<'c>) -> Result<'c> {
    let name = name_of(callee);
    let Some(body) = callee.body() else {
        let message =
            format!("calls '{name}', which has no body: no target has functions of others");
        return Err(Diagnostic::at(call, message).note(callee.location(), "declared here"));
    };
    let ends = operations(body)
        .last()
        .is_some_and(|op| op.is("func.return"));
    let is_structured = body.next_in_region().is_none();
    if !ends || !is_structured {
        let message = format!("calls '{name}', whose control flow is not structured: use 'scf'");
        return Err(Diagnostic::at(call, message).note(callee.location(), "the function"));
    }
    if is_in_for_each(call)
        && let Some(op) = callee.nested().into_iter().find(|op| shows_threads(*op))
    {
        let message = format!(
            "calls '{name}' in a 'qd.grid.for_each', whose body is not run by every thread: use a \
             'qd.grid.phase'"
        );
        let why = format!("'{}' is not legal there", op.full_name());
        return Err(Diagnostic::at(call, message).note(op.location(), why));
    }
    Ok(())
}

pub(crate) fn name_of(function: Op) -> String {
    let name = function.attr("sym_name").and_then(attributes::text);
    name.unwrap_or_default()
}

/// Whether an op is in a `for_each` that says nothing of subgroups. Of one that does the verifier knows what
/// is legal.
fn is_in_for_each(op: Op) -> bool {
    std::iter::successors(op.parent(), |around| around.parent())
        .filter_map(grid::ForEach::of)
        .any(|for_each| for_each.subgroups().is_none())
}

/// Whether an op depends on threads, which a `qd.grid.for_each` hides.
fn shows_threads(op: Op) -> bool {
    match Convergence::of(op) {
        Convergence::Collective(_) => true,
        // What yields something of nothing yields what tells who runs it.
        Convergence::PerThread => op.operand_count() == 0 && op.result_count() > 0,
        Convergence::Unknown => op.full_name().starts_with("gpu.") && !op.is(PRINT),
    }
}

/// Replaces a call by a copy of a function that calls nothing.
fn inline<'c>(call: Op<'c>, callee: Op<'c>) {
    let body = callee.body().expect("checked");
    let mut mapping = Mapping::new();
    for (argument, value) in arguments(body).into_iter().zip(call.operand_values()) {
        mapping.insert(argument, value);
    }
    let mut results = Values::new();
    for op in operations(body) {
        if op.is("func.return") {
            results = op.operand_values();
            results
                .iter_mut()
                .for_each(|value| *value = mapping.get(*value));
            continue;
        }
        let at = match op.is(simt::BlockShared::NAME) {
            true => top(call),
            false => call,
        };
        let copy = mapping.clone_op(op, InsertionPoint::Before(at));
        for op in copy.walk_all() {
            op.set_location(Location::call_site(op.location(), call.location()));
        }
    }
    call.replace_with(&results);
}

/// The op around a call, or the call, that is at the top of a phase or a function.
fn top<'c>(call: Op<'c>) -> Op<'c> {
    let is_top = |op: &Op<'c>| {
        op.parent()
            .is_none_or(|around| around.is(grid::Phase::NAME) || around.is("func.func"))
    };
    std::iter::successors(Some(call), |op| op.parent())
        .find(is_top)
        .unwrap_or(call)
}
