//! Unification of two bodies, up to integer constants.

use qd_dialects::{
    attributes::{self, names},
    ir::{Block, Key, Op, OpExt, Value, ValueExt, arguments, operations},
    melior::ir::{Type, TypeLike, ValueLike},
};
use std::collections::HashMap;

/// A use of an integer constant in a body.
#[derive(Clone)]
pub(super) struct Slot<'c> {
    /// Its users.
    pub op: Op<'c>,
    /// As which operand.
    pub operand: usize,
    /// The constant.
    pub value: i64,
}

impl<'c> Slot<'c> {
    /// The constant's type.
    pub fn r#type(&self) -> Type<'c> {
        self.op.operand_values()[self.operand].r#type()
    }
}

pub(super) fn is_constant(op: Op) -> bool {
    let integer = |value: Value| {
        let r#type = value.r#type();
        r#type.is_index() || (r#type.is_integer() && qd_dialects::ir::bit_width(r#type) > 1)
    };
    op.is("arith.constant")
        && op.result_count() == 1
        && integer(op.first_result())
        && op.attr("value").and_then(attributes::int).is_some()
}

/// The integer that a value is.
pub(super) fn constant(value: Value) -> Option<i64> {
    value.defining_op().filter(|op| is_constant(*op))?;
    value.constant_int()
}

/// Every use of an integer constant in a body, in order.
pub(super) fn slots<'c>(body: Op<'c>) -> Vec<Slot<'c>> {
    let mut slots = Vec::new();
    for op in body.nested() {
        for (operand, value) in op.operand_values().into_iter().enumerate() {
            if let Some(value) = constant(value) {
                slots.push(Slot { op, operand, value });
            }
        }
    }
    slots
}

/// Lays `template` over `body`, if they are the same up to integer constants.
pub(super) fn unify<'c>(template: Op<'c>, body: Op<'c>) -> Option<Match<'c>> {
    let sizes = |body: Op<'c>| [names::THREADS, names::WAVE].map(|name| body.attr(name));
    if sizes(template) != sizes(body) {
        return None;
    }
    let mut laid = Match {
        values: HashMap::new(),
        constants: HashMap::new(),
    };
    laid.blocks(template.body()?, body.body()?)?;
    Some(laid)
}

/// A template laid over a body.
pub(super) struct Match<'c> {
    /// What stands for a value of the template in the body.
    values: HashMap<Key, Value<'c>>,
    /// The constant in a slot of the template.
    constants: HashMap<(Key, usize), i64>,
}

impl<'c> Match<'c> {
    /// The body's constants in the template's slots, which are all there.
    pub fn at(&self, slots: &[Slot<'c>]) -> Vec<i64> {
        let at = |slot: &Slot<'c>| self.constants[&(slot.op.key(), slot.operand)];
        slots.iter().map(at).collect()
    }

    fn blocks(&mut self, template: Block<'c>, body: Block<'c>) -> Option<()> {
        let (left, right) = (arguments(template), arguments(body));
        if left.len() != right.len() {
            return None;
        }
        for (a, b) in left.iter().zip(right) {
            if a.r#type() != b.r#type() {
                return None;
            }
            self.values.insert(a.key(), b);
        }
        let mut rest = operations(body)
            .into_iter()
            .filter(|op| !is_constant(*op))
            .peekable();
        for op in operations(template)
            .into_iter()
            .filter(|op| !is_constant(*op))
        {
            match rest.peek() {
                Some(other) if self.ops(op, *other).is_some() => _ = rest.next(),
                _ => self.without(op)?,
            }
        }
        rest.next().is_none().then_some(())
    }

    fn ops(&mut self, a: Op<'c>, b: Op<'c>) -> Option<()> {
        let same = a.is_alike(b)
            && a.operand_count() == b.operand_count()
            && a.result_count() == b.result_count()
            && a.region_count() == b.region_count()
            && a.result_values()
                .iter()
                .zip(b.result_values())
                .all(|(x, y)| x.r#type() == y.r#type());
        if !same {
            return None;
        }
        let mut found = Vec::new();
        for (index, (x, y)) in a
            .operand_values()
            .into_iter()
            .zip(b.operand_values())
            .enumerate()
        {
            match (constant(x), constant(y)) {
                (Some(_), Some(value)) if x.r#type() == y.r#type() => {
                    found.push(((a.key(), index), value));
                }
                (None, None) if self.values.get(&x.key())?.key() == y.key() => {}
                _ => return None,
            }
        }
        self.constants.extend(found);
        for index in 0..a.region_count() {
            match (a.region_block(index), b.region_block(index)) {
                (None, None) => {}
                (Some(x), Some(y))
                    if x.next_in_region().is_none() && y.next_in_region().is_none() =>
                {
                    self.blocks(x, y)?;
                }
                _ => return None,
            }
        }
        for (x, y) in a.result_values().into_iter().zip(b.result_values()) {
            self.values.insert(x.key(), y);
        }
        Some(())
    }

    /// The body lacks `op`: a shift or an exclusive or, with 0 there. Other steps
    /// that do nothing for some constant are left out: they would cost the body
    /// that lacks them more than sharing is worth.
    fn without(&mut self, op: Op<'c>) -> Option<()> {
        if !may_be_left_out(op) {
            return None;
        }
        let operands = op.operand_values();
        let value = *self.values.get(&operands[0].key())?;
        self.constants.insert((op.key(), 1), 0);
        self.values.insert(op.first_result().key(), value);
        Some(())
    }
}

/// Whether an op does nothing for some constant that it has for its second operand.
pub(super) fn may_be_left_out(op: Op) -> bool {
    const NOTHING_WITH_0: [&str; 4] = ["arith.shli", "arith.shrui", "arith.shrsi", "arith.xori"];
    NOTHING_WITH_0.contains(&op.full_name()) && constant(op.operand_values()[1]).is_some()
}
