//! The values that are computed once for all active threads, in place.
//!
//! They are uniform in the block, by [`Uniformity`]; stand outside the loops over
//! threads; and are computed by a pure function or a load from values of the same
//! kind, or from results of collectives, which are uniform but in arrays. Everything
//! else is computed by each thread: ids and short arithmetic on them, even where it
//! yields the same in all, and whatever stands in control flow that goes into a loop
//! over threads.

use super::contains_collective;
use qd_dialects::{
    interfaces::{Collective, Scope},
    ir::{Block, Key, Op, OpExt, Value, ValueExt, arguments, operations},
    ops::simt,
};
use qd_passes::uniformity::Uniformity;
use std::collections::HashSet;

/// The values of a body that are computed once.
#[derive(Default)]
pub(super) struct Once(HashSet<Key>);

impl Once {
    /// Selects them in a body whose arguments are uniform.
    pub(super) fn of<'c>(body: Block<'c>, uniformity: &Uniformity<'c>) -> Self {
        let mut once = Self::default();
        once.0
            .extend(arguments(body).iter().map(|value| value.key()));
        once.block(body, uniformity);
        once
    }

    /// Whether a value is.
    pub(super) fn has(&self, value: Value<'_>) -> bool {
        self.0.contains(&value.key())
    }

    /// Whether the results of an op without control flow are.
    pub(super) fn computes(&self, op: Op<'_>) -> bool {
        let results = op.result_values();
        op.region_count() == 0
            && !results.is_empty()
            && results.into_iter().all(|value| self.has(value))
    }

    /// Whether control flow stays outside the loops over threads.
    pub(super) fn is_structure(&self, op: Op<'_>) -> bool {
        let controls = match op.full_name() {
            "scf.for" => 3,
            "scf.if" => 1,
            "scf.while" | "scf.index_switch" => return contains_collective(op),
            _ => return false,
        };
        let operands = op.operand_values();
        operands.iter().take(controls).all(|value| self.has(*value)) || contains_collective(op)
    }

    fn block<'c>(&mut self, block: Block<'c>, uniformity: &Uniformity<'c>) {
        for op in operations(block) {
            if self.is_structure(op) {
                self.structure(op, uniformity);
            } else if self.is_computable(op, uniformity) {
                self.add(&op.result_values(), uniformity);
            }
        }
    }

    /// Arguments and results of a loop or branch, where the block's threads enter
    /// it together: other control flow goes into a loop over the subgroups.
    fn structure<'c>(&mut self, op: Op<'c>, uniformity: &Uniformity<'c>) {
        let is_block_wide = uniformity.enters_together(op, Scope::Block);
        for index in 0..op.region_count() {
            let Some(block) = op.region_block(index) else {
                continue;
            };
            if is_block_wide {
                self.add(&arguments(block), uniformity);
            }
            self.block(block, uniformity);
        }
        if is_block_wide {
            self.add(&op.result_values(), uniformity);
        }
    }

    /// Whether one execution of an op is enough, if its results are uniform.
    fn is_computable<'c>(&self, op: Op<'c>, uniformity: &Uniformity<'c>) -> bool {
        let is_of_block = op.is(simt::BlockId::NAME) || op.is(simt::BlockShared::NAME);
        let is_there = |value: &Value<'c>| {
            let is_collective = |op| Collective::of(op).is_some();
            self.has(*value) || value.defining_op().is_some_and(is_collective)
        };
        (is_of_block || uniformity.is_function(op)) && op.operand_values().iter().all(is_there)
    }

    fn add<'c>(&mut self, values: &[Value<'c>], uniformity: &Uniformity<'c>) {
        let uniform = values
            .iter()
            .filter(|value| uniformity.is_uniform(**value, Scope::Block));
        self.0.extend(uniform.map(|value| value.key()));
    }
}
