//! `qd-merge-collectives`: equal collectives of one block are computed once.
//!
//! Upstream's CSE leaves collectives alone: they read the convergence resource. In
//! one block of a region the same threads execute all of them, so a collective with
//! the same operands, attributes and combiner as an earlier one has the same
//! results. Only collectives that depend on their operands alone are merged: moves,
//! votes, masks, reductions, scans and sorts.
//!
//! Limits: never across regions, which other threads may execute, and not past an
//! op with regions that holds a barrier of its own; barriers and `radix_rank`,
//! which access memory, are never merged. A barrier does not change values that are
//! computed before it, but merging would keep them alive across it, so nothing is
//! merged past one either.
//!
//! Before:
//! ```mlir
//! %a = qd.simt.reduce_all add %v : i32
//! %b = qd.simt.reduce_all add %v : i32
//! USE(%a, %b)
//! ```
//! After:
//! ```mlir
//! %a = qd.simt.reduce_all add %v : i32
//! USE(%a, %a)
//! ```

use qd_dialects::{
    attributes::names,
    diagnostic::Result,
    interfaces::{Collective, Effects},
    ir::{Block, Key, Op, OpExt, ValueExt, arguments, operations},
    pass::{NoOptions, Pass},
};
use std::{collections::HashMap, fmt::Write};

/// The pass.
pub struct MergeCollectives;

impl Pass for MergeCollectives {
    type Options = NoOptions;
    const NAME: &'static str = "qd-merge-collectives";
    const SUMMARY: &'static str = "Compute equal collectives of one block once";

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        merge_in(module);
        Ok(())
    }
}

/// Merges below an op. Returns whether it is, or holds, an op at which threads
/// wait.
fn merge_in(op: Op) -> bool {
    let mut waits = is_barrier(op);
    for region in 0..op.region_count() {
        let mut block = op.region_block(region);
        while let Some(current) = block {
            waits |= merge_block(current);
            block = current.next_in_region();
        }
    }
    waits
}

fn merge_block(block: Block) -> bool {
    let mut known: HashMap<String, Op> = HashMap::new();
    let mut waits = false;
    for op in operations(block) {
        if !is_mergeable(op) {
            if merge_in(op) {
                known.clear();
                waits = true;
            }
            continue;
        }
        match known.get(&signature(op)) {
            Some(earlier) => op.replace_with(&earlier.result_values()),
            None => _ = known.insert(signature(op), op),
        }
    }
    waits
}

fn is_mergeable(op: Op) -> bool {
    op.result_count() > 0 && Collective::of(op).is_some() && !accesses_memory(op)
}

/// Whether threads wait at an op, or may.
fn is_barrier(op: Op) -> bool {
    op.is("func.call") || (Collective::of(op).is_some() && accesses_memory(op))
}

fn accesses_memory(op: Op) -> bool {
    Effects::of(op).is_none_or(|effects| effects.reads || !effects.only_reads())
}

/// The op in words: equal for equal ops on equal operands.
fn signature(op: Op) -> String {
    let mut text = String::new();
    let mut numbers = HashMap::new();
    describe(op, &mut numbers, &mut text);
    text
}

fn describe(op: Op, numbers: &mut HashMap<Key, usize>, text: &mut String) {
    let _ = write!(text, "{}(", op.full_name());
    for operand in op.operand_values() {
        match numbers.get(&operand.key()) {
            // Inside a combiner, by place; outside, by identity.
            Some(number) => _ = write!(text, "#{number},"),
            None => _ = write!(text, "{:?},", operand.key()),
        }
    }
    for (name, value) in op.attributes() {
        // How it came to be is no part of what it is.
        if name.as_string_ref().as_str() == Ok(names::WHY) {
            continue;
        }
        let _ = write!(text, "{:?}={value},", name.as_string_ref().as_str());
    }
    for region in 0..op.region_count() {
        let mut block = op.region_block(region);
        while let Some(current) = block {
            text.push('{');
            for argument in arguments(current) {
                let next = numbers.len();
                numbers.insert(argument.key(), next);
            }
            for inner in operations(current) {
                describe(inner, numbers, text);
                for result in inner.result_values() {
                    let next = numbers.len();
                    numbers.insert(result.key(), next);
                }
            }
            text.push('}');
            block = current.next_in_region();
        }
    }
    text.push(')');
}
