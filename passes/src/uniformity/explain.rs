//! The origin of a value's divergence, for error messages.

use super::{Scope, Uniformity, transfer::Origin};
use qd_dialects::{
    ir::{Key, Op, OpExt, Value, ValueExt},
    melior::ir::Location,
    ops::simt,
};
use std::collections::HashSet;

/// Steps shown at most; the last is the source if the chain is longer.
const LONGEST: usize = 8;

/// One link between a value that varies and the op that makes it so.
#[derive(Clone, Debug)]
pub struct Step<'c> {
    /// Where it is.
    pub location: Location<'c>,
    /// What it does.
    pub text: String,
}

impl<'c> Uniformity<'c> {
    /// The threads of a scope, in words: `lanes of a subgroup of 32`.
    pub fn group_name(&self, scope: Scope) -> String {
        match scope {
            Scope::Subgroup => format!("lanes of a subgroup of {}", self.wave()),
            Scope::Block if self.threads() == 0 => "threads of a block".into(),
            Scope::Block => format!("threads of a block of {}", self.threads()),
            Scope::Grid => "threads of the grid".into(),
        }
    }

    /// Why the regions of `op` are not entered together: its condition, and the
    /// chain from there to what varies.
    pub fn explain_branch(&self, op: Op<'c>, scope: Scope) -> Vec<Step<'c>> {
        let group = self.group_name(scope);
        let (text, start) = match op.full_name() {
            name @ ("scf.if" | "scf.index_switch") => (
                format!("the condition of this '{name}' is not the same in all {group}"),
                op.operand_values().first().copied(),
            ),
            "scf.for" => (
                format!("this 'scf.for' does not run equally often in all {group}"),
                self.differing(&op.operand_values()[..3], scope),
            ),
            "scf.while" => (
                format!("the condition of this 'scf.while' is not the same in all {group}"),
                condition(op),
            ),
            name => (
                format!("control flow in this '{name}' is not known to be uniform"),
                None,
            ),
        };
        let mut steps = vec![Step {
            location: op.location(),
            text,
        }];
        if let Some(value) = start {
            steps.extend(self.explain(value, scope));
        }
        steps
    }

    /// The chain from a value that varies to its source.
    pub fn explain(&self, value: Value<'c>, scope: Scope) -> Vec<Step<'c>> {
        let mut steps = Vec::new();
        let mut seen = HashSet::new();
        let mut next = Some(value);
        while let Some(value) = next {
            if !seen.insert(value.key()) {
                break;
            }
            next = self.link(value, scope, &seen, &mut steps);
        }
        if steps.len() > LONGEST {
            steps.drain(LONGEST - 1..steps.len() - 1);
        }
        steps
    }

    /// Says where one value comes from, and returns what to follow.
    fn link(
        &self,
        value: Value<'c>,
        scope: Scope,
        seen: &HashSet<Key>,
        steps: &mut Vec<Step<'c>>,
    ) -> Option<Value<'c>> {
        let Some(op) = value.defining_op() else {
            return self.link_argument(value, scope, seen, steps);
        };
        let mut say = |text: String| {
            steps.push(Step {
                location: op.location(),
                text,
            });
        };
        let name = op.full_name();
        let group = self.group_name(scope);
        if op.region_count() > 0 && name.starts_with("scf.") {
            let index = value.result_number()?;
            let yielded: Vec<_> = (0..op.region_count())
                .filter_map(|r| op.region_block(r)?.terminator())
                .filter_map(|end| {
                    // `scf.condition` has the condition before what it passes.
                    let skip = usize::from(end.is("scf.condition"));
                    end.operand_values().get(index + skip).copied()
                })
                .collect();
            if let Some(value) = self.unseen(&yielded, scope, seen) {
                say(format!("it is a result of this '{name}'"));
                return Some(value);
            }
            steps.extend(self.explain_branch(op, scope));
            return None;
        }
        match self.origin(op) {
            Origin::Operands => {
                let operands = op.operand_values();
                if let Some(varying) = operands
                    .iter()
                    .find(|v| self.shape(**v, scope) == super::Shape::Varying)
                {
                    say(format!("it is computed by this '{name}'"));
                    return Some(*varying);
                }
                say(format!("this '{name}' is not the same in all {group}"));
                self.differing(&operands, scope)
            }
            Origin::Varying | Origin::Uniform(_) => {
                say(format!("this '{name}' is not the same in all {group}"));
                None
            }
            Origin::Source => {
                say(match name {
                    simt::LaneId::NAME | simt::Elect::NAME => {
                        format!("'{name}' varies across the lanes of a subgroup")
                    }
                    simt::BlockThreadId::NAME => format!("'{name}' varies across the {group}"),
                    simt::SubgroupId::NAME => {
                        format!("'{name}' varies across the subgroups of a block")
                    }
                    simt::BlockId::NAME => format!("'{name}' varies across blocks"),
                    simt::BlockShared::NAME => format!("'{name}' is another array in each block"),
                    "memref.alloca" => format!("'{name}' is memory of one thread"),
                    "func.call" => {
                        format!("what '{name}' returns is not known: inline the function first")
                    }
                    _ if name.contains("atomic") => {
                        format!("'{name}' yields what it finds, which other threads change")
                    }
                    _ => format!("what '{name}' yields is not known to be uniform"),
                });
                None
            }
        }
    }

    fn link_argument(
        &self,
        value: Value<'c>,
        scope: Scope,
        seen: &HashSet<Key>,
        steps: &mut Vec<Step<'c>>,
    ) -> Option<Value<'c>> {
        let (block, index) = value.block_argument()?;
        let op = block.parent_operation()?;
        let mut say = |text: &str| {
            steps.push(Step {
                location: op.location(),
                text: text.into(),
            });
        };
        let operands = op.operand_values();
        let candidates: Vec<_> = match op.full_name() {
            "scf.for" if index == 0 => {
                say("it is the index of this 'scf.for'");
                return self.unseen(&[operands[0], operands[2]], scope, seen);
            }
            "scf.for" => {
                let end = block.terminator()?.operand_values();
                vec![operands[index + 2], *end.get(index - 1)?]
            }
            "scf.while" if op.region_block(0) == Some(block) => {
                let end = op.region_block(1)?.terminator()?.operand_values();
                vec![operands[index], *end.get(index)?]
            }
            "scf.while" => {
                let end = op.region_block(0)?.terminator()?.operand_values();
                vec![*end.get(index + 1)?]
            }
            "func.func" => {
                say(&format!(
                    "callers may pass anything for argument {index} of this function"
                ));
                return None;
            }
            name => {
                say(&format!(
                    "an argument of a region of '{name}' is not known to be uniform"
                ));
                return None;
            }
        };
        say("it is carried around this loop");
        self.unseen(&candidates, scope, seen)
    }

    /// The first value that is not uniform and not yet explained.
    fn unseen(&self, values: &[Value<'c>], scope: Scope, seen: &HashSet<Key>) -> Option<Value<'c>> {
        values
            .iter()
            .copied()
            .find(|v| !self.is_uniform(*v, scope) && !seen.contains(&v.key()))
    }

    fn differing(&self, values: &[Value<'c>], scope: Scope) -> Option<Value<'c>> {
        values.iter().copied().find(|v| !self.is_uniform(*v, scope))
    }
}

/// The condition of `scf.while`.
fn condition<'c>(op: Op<'c>) -> Option<Value<'c>> {
    let end = op.region_block(0)?.terminator()?;
    end.operand_values().first().copied()
}
