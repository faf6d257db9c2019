//! Where in a body an argument may stand instead of a constant.

use super::unify::Slot;
use qd_dialects::{
    interfaces::Collective,
    ir::{Block, Key, Op, OpExt, ValueExt, operations},
    ops::grid,
};
use std::collections::HashSet;

/// Ops whose operands may be arguments as well as constants.
const PLAIN: &[&str] = &[
    "arith.addi",
    "arith.subi",
    "arith.muli",
    "arith.andi",
    "arith.ori",
    "arith.xori",
    "arith.shli",
    "arith.shrui",
    "arith.shrsi",
    "arith.cmpi",
    "arith.minui",
    "arith.maxui",
    "arith.minsi",
    "arith.maxsi",
    "arith.select",
    "memref.load",
    "memref.store",
    grid::AtomicLoad::NAME,
    grid::AtomicRmw::NAME,
    grid::AtomicStore::NAME,
    grid::View::NAME,
    "scf.yield",
];

/// Whether an op of this name may take an argument where it has a constant.
pub(super) fn is_plain(name: &str) -> bool {
    PLAIN.contains(&name)
}

/// Whether what an op of this name yields has been read from memory.
fn is_load(name: &str) -> bool {
    matches!(
        name,
        "memref.load"
            | grid::AtomicLoad::NAME
            | grid::AtomicRmw::NAME
            | grid::AtomicExchange::NAME
            | grid::AtomicCas::NAME
    )
}

/// What a body's constants have a part in.
#[derive(Default)]
pub(super) struct Arguments {
    /// Ops whose results have a part in a condition around a collective.
    deciding: HashSet<Key>,
    /// Values that have been read from memory, or been computed of what has.
    data: HashSet<Key>,
}

impl Arguments {
    /// Of a body.
    pub fn of(body: Op) -> Self {
        let mut arguments = Self::default();
        let mut waiting = Vec::new();
        arguments.visit(body, &mut waiting);
        // From conditions to what they are computed of.
        while let Some(op) = waiting.pop() {
            if !arguments.deciding.insert(op.key()) {
                continue;
            }
            for source in op
                .operand_values()
                .into_iter()
                .filter_map(|v| v.defining_op())
            {
                // What is loaded or exchanged is as uniform as it was.
                if source.full_name().starts_with("arith.") || source.region_count() > 0 {
                    waiting.push(source);
                }
                let ends = blocks(source).filter_map(|block| operations(block).pop());
                waiting.extend(ends.filter(|end| end.is("scf.yield")));
            }
        }
        arguments
    }

    /// Whether an argument may stand in a slot. It may not where the constant has a
    /// part in a condition around a collective: whether that is uniform may depend
    /// on its value.
    pub fn may_be(&self, slot: &Slot) -> bool {
        let name = slot.op.full_name();
        // What becomes of data is as uniform as the data, whatever the constant.
        let is_of_data = || {
            let operands = slot.op.operand_values();
            name.starts_with("arith.") && operands.iter().any(|v| self.data.contains(&v.key()))
        };
        is_plain(name) && (!self.deciding.contains(&slot.op.key()) || is_of_data())
    }

    /// Notes what is data, and the conditions around collectives. Returns whether
    /// there is a collective below an op.
    fn visit<'c>(&mut self, op: Op<'c>, waiting: &mut Vec<Op<'c>>) -> bool {
        let mut holds = false;
        let mut ends = Vec::new();
        for block in blocks(op) {
            for inner in operations(block) {
                let is_collective = Collective::of(inner).is_some();
                holds |= self.visit(inner, waiting) || is_collective;
                if matches!(inner.full_name(), "scf.condition" | "scf.yield") {
                    ends.push(inner);
                }
            }
        }
        if holds && op.region_count() > 0 {
            waiting.push(op);
            waiting.extend(&ends);
        }
        let name = op.full_name();
        for (number, result) in op.result_values().into_iter().enumerate() {
            let is_data = if is_load(name) {
                true
            } else if name.starts_with("arith.") {
                let operands = op.operand_values();
                operands.iter().any(|v| self.data.contains(&v.key()))
            } else if name == "scf.if" {
                let is_data = |end: &Op| self.data.contains(&end.operand_values()[number].key());
                ends.iter().any(is_data)
            } else {
                false
            };
            if is_data {
                self.data.insert(result.key());
            }
        }
        holds
    }
}

/// The blocks directly in an op's regions.
fn blocks<'c>(op: Op<'c>) -> impl Iterator<Item = Block<'c>> {
    let first = (0..op.region_count()).filter_map(move |region| op.region_block(region));
    first.flat_map(|block| std::iter::successors(Some(block), |block| block.next_in_region()))
}
