//! Copying code with its operands replaced.

use crate::ir::{Block, InsertionPoint, Op, OpExt, Value, arguments, operations};
use melior::ir::ValueLike;
use std::collections::HashMap;

/// Which value stands for which in a copy.
#[derive(Clone, Default)]
pub struct Mapping<'c>(HashMap<usize, Value<'c>>);

impl<'c> Mapping<'c> {
    /// Nothing is replaced.
    pub fn new() -> Self {
        Self::default()
    }

    /// `to` stands for `from`.
    pub fn insert(&mut self, from: Value<'c>, to: Value<'c>) {
        self.0.insert(from.to_raw().ptr as usize, to);
    }

    /// The replacement of `value`, or itself if it has none.
    pub fn get(&self, value: Value<'c>) -> Value<'c> {
        self.find(value).unwrap_or(value)
    }

    /// The replacement of `value`, if it has one.
    pub fn find(&self, value: Value<'c>) -> Option<Value<'c>> {
        self.0.get(&(value.to_raw().ptr as usize)).copied()
    }

    /// Copies an operation to `at`, and maps its results to the copy's.
    pub fn clone_op(&mut self, op: Op<'c>, at: InsertionPoint<'c>) -> Op<'c> {
        let copy = at.insert(op.detached_clone());
        // Operands that the clone defines itself already refer to the clone.
        for inner in copy.walk_all() {
            for index in 0..inner.operand_count() {
                let operand = inner.operand(index).expect("an operand in range");
                if let Some(to) = self.find(operand) {
                    inner.set_operand_at(index, to);
                }
            }
        }
        for (from, to) in op.result_values().into_iter().zip(copy.result_values()) {
            self.insert(from, to);
        }
        copy
    }

    /// Copies all operations of a block but its terminator (`qd.yield`,
    /// `scf.yield`, …) to `at`, with `values` for its arguments. Returns what
    /// the terminator yields.
    pub fn inline(
        &mut self,
        block: Block<'c>,
        values: &[Value<'c>],
        at: InsertionPoint<'c>,
    ) -> Vec<Value<'c>> {
        for (argument, value) in arguments(block).into_iter().zip(values) {
            self.insert(argument, *value);
        }
        let mut yielded = Vec::new();
        for op in operations(block) {
            if op.full_name().ends_with(".yield") {
                yielded = op
                    .operand_values()
                    .into_iter()
                    .map(|v| self.get(v))
                    .collect();
            } else {
                self.clone_op(op, at);
            }
        }
        yielded
    }
}
