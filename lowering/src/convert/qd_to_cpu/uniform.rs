//! Uniformity in a block, for the cpu's conversion.
//!
//! Syntactic and conservative: a value is uniform if it is computed from uniform
//! values alone, under uniform control flow. A load at a uniform address is uniform
//! because in a race-free body no thread writes there while another reads. Control
//! flow within a loop over threads holds no uniform values: nothing in it is
//! computed outside of that loop. The results of a collective are arrays, and so
//! vary, even if all elements are equal.

use super::body::contains_collective;
use qd_dialects::{
    interfaces::view_source,
    ir::{Block, Key, Op, OpExt, Value, ValueExt, arguments, operations},
    ops::{math, simt},
};
use std::collections::HashSet;

/// The uniform values of a body.
#[derive(Default)]
pub struct Uniform(HashSet<Key>);

impl Uniform {
    /// Analyses a body whose arguments are uniform.
    pub fn of(body: Block<'_>) -> Self {
        let mut uniform = Self::default();
        for argument in arguments(body) {
            uniform.add(argument);
        }
        uniform.block(body);
        uniform
    }

    /// Whether `value` is the same in every thread.
    pub fn has(&self, value: Value<'_>) -> bool {
        self.0.contains(&value.key())
    }

    /// Whether all of these are.
    pub fn has_all(&self, values: &[Value<'_>]) -> bool {
        values.iter().all(|v| self.has(*v))
    }

    /// Whether one execution of an op is enough for all threads.
    pub fn is_computed_once(&self, op: Op<'_>) -> bool {
        let is_uniform_op = is_uniform_op(op.full_name()) || view_source(op).is_some();
        is_uniform_op && self.has_all(&op.operand_values())
    }

    /// Whether control flow is uniform at a loop or a branch.
    pub fn controls(&self, op: Op<'_>) -> bool {
        match op.full_name() {
            "scf.for" => self.has_all(&op.operand_values()[..3]),
            "scf.while" => op
                .region_block(0)
                .and_then(|before| operations(before).pop())
                .is_some_and(|condition| self.has(condition.operand_values()[0])),
            "scf.if" | "scf.index_switch" => self.has(op.operand_values()[0]),
            _ => false,
        }
    }

    fn add(&mut self, value: Value<'_>) -> bool {
        self.0.insert(value.key())
    }

    fn remove(&mut self, value: Value<'_>) -> bool {
        self.0.remove(&value.key())
    }

    fn block(&mut self, block: Block<'_>) {
        for op in operations(block) {
            self.op(op);
        }
    }

    /// The operands of a region's terminator, without a leading condition.
    fn yielded<'c>(block: Block<'c>) -> Vec<Value<'c>> {
        let Some(last) = operations(block).pop() else {
            return Vec::new();
        };
        let values = last.operand_values();
        if last.is("scf.condition") {
            values[1..].to_vec()
        } else {
            values
        }
    }

    fn op(&mut self, op: Op<'_>) {
        match op.full_name() {
            "scf.for" => {
                let operands = op.operand_values();
                let body = op.body().expect("a loop body");
                let controls = self.controls(op);
                if !controls && !contains_collective(op) {
                    return;
                }
                let carried = arguments(body);
                if controls {
                    self.add(carried[0]);
                }
                let initial = &operands[3..];
                self.carry(body, &carried[1..], initial, controls);
                for (result, argument) in op.result_values().into_iter().zip(&carried[1..]) {
                    if self.has(*argument) {
                        self.add(result);
                    }
                }
            }
            // Within a loop over threads nothing is computed once for all of them.
            "scf.while" if !contains_collective(op) => {}
            "scf.while" => {
                let before = op.region_block(0).expect("a condition region");
                let after = op.region_block(1).expect("a body region");
                let initial = op.operand_values();
                let (state, passed) = (arguments(before), arguments(after));
                for (argument, value) in state.iter().zip(&initial) {
                    if self.has(*value) {
                        self.add(*argument);
                    }
                }
                // To a fixed point: what becomes varying stays so.
                loop {
                    for argument in &passed {
                        self.remove(*argument);
                    }
                    self.block(before);
                    let uniform = self.controls(op);
                    for (argument, value) in passed.iter().zip(Self::yielded(before)) {
                        if uniform && self.has(value) {
                            self.add(*argument);
                        }
                    }
                    self.block(after);
                    let mut changed = false;
                    for (argument, value) in state.iter().zip(Self::yielded(after)) {
                        if !(uniform && self.has(value)) {
                            changed |= self.remove(*argument);
                        }
                    }
                    if !changed {
                        break;
                    }
                    self.forget_below(op);
                }
                for (result, argument) in op.result_values().into_iter().zip(&passed) {
                    if self.has(*argument) {
                        self.add(result);
                    }
                }
            }
            "scf.if" if !self.controls(op) && !contains_collective(op) => {}
            name if name == "scf.if" || (name == "scf.index_switch" && contains_collective(op)) => {
                let uniform = self.controls(op);
                let mut branches = Vec::new();
                for index in 0..op.region_count() {
                    if let Some(block) = op.region_block(index) {
                        self.block(block);
                        branches.push(Self::yielded(block));
                    }
                }
                for (i, result) in op.result_values().into_iter().enumerate() {
                    if uniform && branches.iter().all(|b| self.has(b[i])) {
                        self.add(result);
                    }
                }
            }
            _ if self.is_computed_once(op) => {
                for result in op.result_values() {
                    self.add(result);
                }
            }
            _ => {
                for index in 0..op.region_count() {
                    if let Some(block) = op.region_block(index) {
                        self.block(block);
                    }
                }
            }
        }
    }

    fn carry(
        &mut self,
        body: Block<'_>,
        carried: &[Value<'_>],
        initial: &[Value<'_>],
        controls: bool,
    ) {
        for (argument, value) in carried.iter().zip(initial) {
            if controls && self.has(*value) {
                self.add(*argument);
            }
        }
        loop {
            self.block(body);
            let mut changed = false;
            for (argument, value) in carried.iter().zip(Self::yielded(body)) {
                if !self.has(value) {
                    changed |= self.remove(*argument);
                }
            }
            if !changed {
                break;
            }
            if let Some(op) = body.parent_operation() {
                self.forget_below(op);
            }
        }
    }

    /// Results of ops below `op` are derived anew on the next visit; the
    /// arguments of its own blocks are kept.
    fn forget_below(&mut self, op: Op<'_>) {
        for inner in op.nested() {
            for result in inner.result_values() {
                self.remove(result);
            }
            for index in 0..inner.region_count() {
                if let Some(block) = inner.region_block(index) {
                    for argument in arguments(block) {
                        self.remove(argument);
                    }
                }
            }
        }
    }
}

/// Ops whose results are uniform if their operands are, and that can be executed
/// once for the whole block. Views are not among them, and collectives are lowered
/// separately.
fn is_uniform_op(name: &str) -> bool {
    if name.starts_with("arith.") || name.starts_with("math.") || name.starts_with("index.") {
        return true;
    }
    matches!(
        name,
        "memref.load"
            | "memref.dim"
            | simt::BlockId::NAME
            | simt::BlockDim::NAME
            | simt::GridDim::NAME
            | simt::BlockShared::NAME
            | simt::SubgroupSize::NAME
            | simt::Log2SubgroupSize::NAME
            | simt::NumSubgroups::NAME
            | simt::Lanemask::NAME
            | math::Popcnt::NAME
            | math::Clz::NAME
            | math::Ffs::NAME
            | math::Fns::NAME
    )
}
