//! `qd-expand-scratch`: scratch that nobody passes becomes control words, which a last phase clears.
//!
//! The runtime owns control words already, at no cost for each call. They have to be 0 when a kernel ends, so the
//! kernel gets a phase that clears what was scratch, behind its last step.
//!
//! Errors: a use of scratch that a plan cannot pass: by a `fill`, a `dispatch`, or a view that the host makes.
//!
//! Limits: scratch of a constant size, for which control words have room.
//!
//! Before:
//! ```mlir
//! qd.grid.kernel @k(%a: memref<?xf32>) {
//!   %mean = qd.grid.scratch : memref<1xf32>
//!   STEPS(%a, %mean)
//! }
//! ```
//! After:
//! ```mlir
//! qd.grid.kernel @k(%a: memref<?xf32>) {
//!   %mean = qd.grid.control : memref<1xf32>
//!   STEPS(%a, %mean)
//!   qd.grid.phase "clear_scratch" blocks(1) threads(64) { set all of %mean to 0 }
//! }
//! ```

use crate::{
    expand_views::{COLLAPSE, REINTERPRET, SUBVIEW, is_hosts},
    outline_phases,
};
use qd_dialects::{
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{InsertionPoint, Op, OpExt, Value, ValueExt, context_of, element_type},
    melior::{dialect::DialectHandle, ir::ValueLike},
    ops::grid,
    pass::{NoOptions, Pass},
};

/// The pass.
pub struct ExpandScratch;

impl Pass for ExpandScratch {
    type Options = NoOptions;
    const NAME: &'static str = "qd-expand-scratch";
    const SUMMARY: &'static str = "Expand scratch into control words, and clear them";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            DialectHandle::memref(),
            DialectHandle::scf(),
        ]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        outline_phases::kernels(module)
            .into_iter()
            .try_for_each(expand)
    }
}

/// Threads of the phase that clears scratch.
const THREADS: i64 = 64;

fn expand<'c>(kernel: Op<'c>) -> Result<'c> {
    let all = kernel.nested().into_iter();
    let scratch: Vec<_> = all.filter_map(grid::Scratch::of).collect();
    let (Some(body), false) = (kernel.body(), scratch.is_empty()) else {
        return Ok(());
    };
    let Some(first) = body.first_operation() else {
        return Ok(());
    };
    let mut words = Vec::new();
    for scratch in &scratch {
        let (op, result) = (scratch.op(), scratch.result());
        for (user, _) in result.uses() {
            let is_refused = match user.full_name() {
                grid::Fill::NAME | grid::View::NAME | grid::Dispatch::NAME => true,
                SUBVIEW | REINTERPRET | COLLAPSE => is_hosts(user),
                _ => false,
            };
            if is_refused {
                let message =
                    "takes an argument of the kernel, or a view of one, but is given scratch";
                return Err(Diagnostic::at(user, message).note(op.location(), "the scratch"));
            }
        }
        // In front of all, where the last phase knows it.
        let b = Builder::before(first);
        b.set_location(op.location());
        let control = b.result(grid::Control::NAME, &[], result.r#type(), &[]);
        words.push(control.value());
    }
    // Last: what was the first op may be one of them.
    for (scratch, words) in scratch.iter().zip(&words) {
        scratch.op().replace_with(&[*words]);
    }
    let b = Builder::new(
        context_of(kernel),
        kernel.location(),
        InsertionPoint::End(body),
    );
    clear(&b, &words);
    Ok(())
}

/// A phase that sets words to 0.
fn clear<'c>(b: &Builder<'c>, words: &[Value<'c>]) {
    b.phase("clear_scratch", b.index(1), THREADS, || {
        let thread = b.thread_id();
        for words in words {
            // A target that has no such type says where it is asked for.
            if let Some(made) = words.defining_op() {
                b.set_location(made.location());
            }
            let words = b.v(*words);
            let zero = b.zero(element_type(words.ty()).expect("a buffer"));
            b.for_(thread, words.len(), b.index(THREADS), [], |i, []| {
                words.set(i, zero);
                []
            });
        }
    });
}
