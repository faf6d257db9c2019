//! Work-item loops: loops over the threads of a block, split at barriers and
//! collectives into parallel regions.
//!
//! A body that runs once per thread becomes one that runs once per block:
//! - a uniform value is computed once, in place;
//! - the other ops between two collectives are a parallel region, which becomes
//!   one loop over the threads;
//! - a collective ends the region: it becomes loops of its own over arrays that
//!   hold one element per thread;
//! - uniform control flow stays outside the loops over threads, so that barriers
//!   may stand in it and the innermost loop is always over threads, which access
//!   consecutive memory: that is the loop LLVM vectorises;
//! - control flow that holds collectives and is uniform in subgroups only stays
//!   outside loops over the threads of one subgroup, within a loop over the
//!   subgroups;
//! - a value that is used after its region goes through an array, unless it is
//!   cheap to recompute.
//!
//! This file cuts blocks into regions and emits a region's loop. `once` selects what
//! is computed once, `active` has the threads of that loop, `control` loops and
//! branches around regions, `values` where a value is stored.

mod active;
mod control;
mod once;
mod values;

use super::collectives;
use crate::{convert::descriptor, targets::Target};
use active::Active;
use melior::ir::ValueLike;
use once::Once;
use qd_dialects::{
    builder::{Builder, V},
    clone::Mapping,
    diagnostic::Result,
    interfaces::{Collective, Effects},
    ir::{Block, InsertionPoint, Key, Op, OpExt, Value, ValueExt, arguments, operations},
    melior,
    ops::simt,
};
use qd_passes::uniformity::Uniformity;
use std::collections::{HashMap, HashSet};
use values::{Thread, is_block_id, is_thread_id};

/// Rewrites one body.
pub struct BodyLowering<'b, 'c> {
    /// Inserts into the new function.
    pub b: &'b Builder<'c>,
    /// The processor.
    pub target: &'b Target,
    /// Threads in a block.
    pub threads: i64,
    /// Lanes in a subgroup.
    pub wave: i64,
    uniformity: Uniformity<'c>,
    /// Which values are computed once for all active threads.
    once: Once,
    active: Active<'b, 'c>,
    /// Uniform values of the old body, and their replacements.
    mapping: Mapping<'c>,
    /// Varying values that live in arrays, one element per thread.
    arrays: HashMap<Key, V<'b, 'c>>,
    /// Where arrays are allocated: the top of the function.
    entry: InsertionPoint<'c>,
    /// The values of `block.id` and `grid.dim`.
    block_id: V<'b, 'c>,
    grid_dim: V<'b, 'c>,
}

/// A parallel region: ops that become one loop over the threads.
#[derive(Default)]
struct Run<'c> {
    ops: Vec<Op<'c>>,
    may_write: bool,
}

impl<'c> Run<'c> {
    fn push(&mut self, op: Op<'c>) {
        self.may_write = self.may_write || may_write(op);
        self.ops.push(op);
    }
}

impl<'b, 'c> BodyLowering<'b, 'c> {
    /// Prepares to rewrite `body`, whose arguments have been mapped already.
    pub fn new(
        b: &'b Builder<'c>,
        body: Block<'c>,
        mapping: Mapping<'c>,
        entry: InsertionPoint<'c>,
        target: &'b Target,
        (threads, wave): (i64, i64),
        (block_id, grid_dim): (V<'b, 'c>, V<'b, 'c>),
    ) -> Self {
        let lanes = u32::try_from(wave).expect("a subgroup size");
        let uniformity = Uniformity::analyse(body, threads, lanes);
        Self {
            b,
            target,
            threads,
            wave,
            once: Once::of(body, &uniformity),
            uniformity,
            active: Active::Block,
            mapping,
            arrays: HashMap::new(),
            entry,
            block_id,
            grid_dim,
        }
    }

    /// Rewrites a block of uniform control flow, at the insertion point.
    pub fn block(&mut self, block: Block<'c>) -> Result<'c> {
        let mut run = Run::default();
        for op in operations(block) {
            let name = op.full_name();
            if is_terminator(name) {
                continue;
            }
            if self.once.is_structure(op) {
                self.flush(&mut run);
                self.structure(op)?;
            } else if self.once.computes(op) {
                // Loads must not overtake the stores of the region before them.
                if name == "memref.load" && run.may_write {
                    self.flush(&mut run);
                }
                self.uniform_op(op);
            } else if let Some(collective) = Collective::of(op) {
                self.flush(&mut run);
                collectives::lower(self, collective, op)?;
            } else if !self.is_cheap(op) {
                run.push(op);
            }
        }
        self.flush(&mut run);
        Ok(())
    }

    fn uniform_op(&mut self, op: Op<'c>) {
        let name = op.full_name();
        if let Some(value) = self.block_id_value(name) {
            self.mapping.insert(op.first_result(), value.value());
        } else if name == simt::BlockShared::NAME {
            let r#type = descriptor::without_memory_space(self.b, op.first_result().r#type());
            let array = self.allocate(&r#type.to_string());
            self.mapping.insert(op.first_result(), array.value());
        } else {
            // Results of collectives are in arrays.
            let mut values = Mapping::new();
            for operand in op.operand_values() {
                values.insert(operand, self.common(operand).value());
            }
            let copy = values.clone_op(op, self.b.insertion_point());
            for result in op.result_values() {
                self.mapping.insert(result, values.get(result));
            }
            strip_memory_space(self.b, copy);
        }
    }

    /// Emits a parallel region as one loop over the threads.
    fn flush(&mut self, run: &mut Run<'c>) {
        let run = std::mem::take(run).ops;
        if run.is_empty() {
            return;
        }
        let nested = run.iter().flat_map(|op| op.walk_all());
        let inside: HashSet<Key> = nested.map(|op| op.key()).collect();
        // Values that are used after the region: by ops outside it, or as a
        // loop's value.
        let mut escaping = Vec::new();
        for op in &run {
            for result in op.result_values() {
                let mut users = result.uses().into_iter();
                let escapes = users.any(|(user, _)| !inside.contains(&user.key()));
                if escapes {
                    escaping.push((result, self.array_of(result)));
                }
            }
        }
        let this = &*self;
        this.for_threads(|t| {
            let mut thread = Thread {
                id: t,
                values: Mapping::new(),
            };
            for op in &run {
                this.clone_into_thread(&mut thread, *op);
            }
            for (value, array) in &escaping {
                array.set(t, this.b.v(thread.values.get(*value)));
            }
        });
    }

    /// Copies an op, nested ones included, into the loop over threads.
    fn clone_into_thread(&self, thread: &mut Thread<'b, 'c>, op: Op<'c>) {
        // All values that it uses from outside must be available.
        for operand in op.walk_all().iter().flat_map(|o| o.operand_values()) {
            if self.is_known(operand) {
                self.in_thread(thread, operand);
            }
            if let Some(uniform) = self.uniform_value(operand)
                && thread.values.find(operand).is_none()
            {
                thread.values.insert(operand, uniform.value());
            }
        }
        let copy = thread.values.clone_op(op, self.b.insertion_point());
        strip_memory_space(self.b, copy);
        for inner in copy.walk_all() {
            let name = inner.full_name();
            if !is_thread_id(name) && !is_block_id(name) {
                continue;
            }
            let value = self.b.at(InsertionPoint::Before(inner), || {
                self.thread_id_value(name, thread.id)
                    .or_else(|| self.block_id_value(name))
            });
            if let Some(value) = value {
                inner.replace_with(&[value.value()]);
            }
        }
    }

    /// Whether a value comes from outside the region that is being emitted.
    fn is_known(&self, value: Value<'c>) -> bool {
        self.mapping.find(value).is_some()
            || self.arrays.contains_key(&value.key())
            || value.defining_op().is_some_and(|op| self.is_cheap(op))
    }
}

fn is_terminator(name: &str) -> bool {
    matches!(name, "scf.yield" | "scf.condition" | "func.return")
}

/// Whether there is a collective below an op.
pub(super) fn contains_collective(op: Op<'_>) -> bool {
    op.nested()
        .iter()
        .any(|inner| Collective::of(*inner).is_some())
}

/// Whether an op, or one in its regions, may write to memory.
fn may_write(op: Op<'_>) -> bool {
    op.walk_all()
        .iter()
        .any(|op| Effects::of(*op).is_none_or(|effects| !effects.only_reads()))
}

/// Shared arrays are plain memory here.
fn strip_memory_space<'c>(b: &Builder<'c>, op: Op<'c>) {
    for inner in op.walk_all() {
        let blocks = (0..inner.region_count()).filter_map(|index| inner.region_block(index));
        for value in blocks.flat_map(arguments).chain(inner.result_values()) {
            let old = value.r#type();
            if descriptor::shape(old).is_some() {
                let plain = descriptor::without_memory_space(b, old);
                if !descriptor::same(old, plain) {
                    value.set_type(plain);
                }
            }
        }
    }
}
