//! `qd-mark-noalias`: marks the buffers of a body that overlap no other.
//!
//! A body is compiled once, for all its launches. An argument of it gets upstream's `llvm.noalias`
//! if, in each launch, the memory passed for it is disjoint from that of every other argument, or
//! neither is written: they are different arguments of the kernel, not both `qd.may_alias`, or
//! parts of one buffer whose bounds can be compared. Conversions to targets pass the attribute on.
//!
//! The pass decides for every body that is launched: it removes an attribute that does not hold. A
//! body that nothing launches stays as it is.
//!
//! Limits: those of the analysis that orders launches (`qd-plan-launches`): memory that cannot be
//! traced to a kernel's argument may overlap anything.
//! Before:
//! ```mlir
//! func.func private @f(%x: memref<?xi32>, %y: memref<?xi32>) attributes {qd.threads = 256 : i64} { WRITES(%y) ... }
//! qd.grid.launch 0 @f blocks(%g) args(%a, %b : memref<?xi32>, memref<?xi32>)
//! ```
//! After:
//! ```mlir
//! func.func private @f(%x: memref<?xi32> {llvm.noalias}, %y: memref<?xi32> {llvm.noalias}) attributes {qd.threads = 256 : i64} { ... }
//! qd.grid.launch 0 @f blocks(%g) args(%a, %b : memref<?xi32>, memref<?xi32>)
//! ```

use crate::{
    outline_phases::kernels,
    plan::access::{Accesses, Functions, Known},
};
use qd_dialects::{
    argument_attributes, attributes,
    diagnostic::Result,
    ir::{Key, Op, OpExt, ValueExt, arguments, context_of, element_type},
    melior::{dialect::DialectHandle, ir::ValueLike},
    ops::grid,
    pass::{NoOptions, Pass},
};
use std::collections::{HashMap, HashSet};

/// The attribute of an argument that overlaps no other.
pub const NOALIAS: &str = "llvm.noalias";

/// The pass.
pub struct MarkNoalias;

impl Pass for MarkNoalias {
    type Options = NoOptions;
    const NAME: &'static str = "qd-mark-noalias";
    const SUMMARY: &'static str = "Mark the buffers of a launched body that overlap no other";

    fn dialects() -> Vec<DialectHandle> {
        vec![DialectHandle::llvm()]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let mut overlapping = HashSet::new();
        let mut bodies: HashMap<Key, Op> = HashMap::new();
        let mut functions = Functions::default();
        for kernel in kernels(module) {
            let mut accesses = Accesses::new(kernel, &mut functions);
            for op in kernel.nested() {
                if let Some(launch) = grid::Launch::of(op)
                    && let Some((body, passed)) = accesses.of_passed(launch)
                {
                    bodies.insert(body.key(), body);
                    overlapping.extend(overlaps(&passed));
                }
            }
        }
        for body in bodies.into_values() {
            mark(body, &overlapping);
        }
        Ok(())
    }
}

/// The values of a body that may share memory with another, which one of them
/// writes.
fn overlaps(passed: &[Known]) -> Vec<Key> {
    let mut found = Vec::new();
    for (i, (first, a)) in passed.iter().enumerate() {
        for (second, b) in &passed[i + 1..] {
            if a.conflicts(b) {
                found.extend([first, second].into_iter().flatten().map(|v| v.key()));
            }
        }
    }
    found
}

fn mark(body: Op, overlapping: &HashSet<Key>) {
    for (index, argument) in body.body().map(arguments).into_iter().flatten().enumerate() {
        if element_type(argument.r#type()).is_none() {
            continue;
        }
        let holds = !overlapping.contains(&argument.key());
        let unit = attributes::unit(context_of(body));
        argument_attributes::set(body, index, NOALIAS, holds.then_some(unit));
    }
}
