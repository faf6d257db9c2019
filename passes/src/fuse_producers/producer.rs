//! The value that an elementwise step writes to a buffer, and its computation elsewhere.

use qd_dialects::{
    clone::Mapping,
    ir::{InsertionPoint, Key, Op, OpExt, Value, ValueExt, bit_width, element_type, operations},
    melior::ir::ValueLike,
    ops::{self, grid, math},
};
use std::collections::HashSet;

/// The most operations of a body that is recomputed, without constants and loads. Each load
/// of the buffer becomes as many, and a tile has some dozens of loads.
pub const MOST_OPS: usize = 32;

/// A step, and the computation of element `index` of one of the buffers it writes.
pub struct Producer<'c> {
    pub step: Op<'c>,
    buffer: Value<'c>,
    /// The store, in a body.
    store: Option<Op<'c>>,
    index: Option<Value<'c>>,
    value: Value<'c>,
    /// The operations that compute the value, in program order.
    ops: Vec<Op<'c>>,
}

/// The kernel's arguments that an elementwise step writes, by number.
pub fn written<'c>(kernel: Op<'c>, step: Op<'c>) -> Vec<(usize, Value<'c>)> {
    let mut all: Vec<(usize, Value<'c>)> = Vec::new();
    for op in step.walk_all() {
        let buffer = match op.full_name() {
            "memref.store" => op.operand_values()[1],
            grid::Fill::NAME => grid::Fill::cast(op).dest(),
            _ => continue,
        };
        let Some((block, index)) = buffer.block_argument() else {
            continue;
        };
        let is_argument = block
            .parent_operation()
            .is_some_and(|op: Op<'c>| op.key() == kernel.key());
        if is_argument && all.iter().all(|(known, _)| *known != index) {
            all.push((index, buffer));
        }
    }
    all
}

impl<'c> Producer<'c> {
    /// For a `qd.grid.for_each` or a `qd.grid.fill`; or why it cannot be recomputed
    /// elsewhere.
    pub fn of(step: Op<'c>, buffer: Value<'c>, what: &str) -> Result<Self, String> {
        match grid::Fill::of(step) {
            Some(fill) => Self::of_fill(fill, buffer, what),
            None => Self::of_body(step, buffer, what),
        }
    }

    fn of_fill(fill: grid::Fill<'c>, buffer: Value<'c>, what: &str) -> Result<Self, String> {
        if fill.lower().and_then(|lower| lower.constant_int()) != Some(0) {
            return Err(format!("it does not fill {what} from the first element on"));
        }
        Ok(Self {
            step: fill.op(),
            buffer,
            store: None,
            index: None,
            value: fill.value(),
            ops: Vec::new(),
        })
    }

    fn of_body(step: Op<'c>, buffer: Value<'c>, what: &str) -> Result<Self, String> {
        let body = step.body().ok_or("it has no body")?;
        let index = qd_dialects::ir::arguments(body)[0];
        let top = operations(body);
        let stores =
            |op: &Op<'c>| op.is("memref.store") && op.operand_values()[1].key() == buffer.key();
        let store = match step.nested().into_iter().filter(stores).collect::<Vec<_>>()[..] {
            [store] => store,
            _ => return Err(format!("it stores to {what} more than once")),
        };
        let operands = store.operand_values();
        if top.iter().all(|op| op.key() != store.key()) {
            return Err(format!("it stores to {what} under a condition"));
        }
        if operands.len() != 3 || operands[2].key() != index.key() {
            return Err(format!("it stores to {what} at another index than its own"));
        }
        let value = operands[0];
        let ops = slice(&top, value);
        let nested = || ops.iter().flat_map(|op| op.walk_all());
        if let Some(op) = nested().find(|op| !can_be_repeated(*op)) {
            return Err(format!("'{}' cannot be computed elsewhere", op.full_name()));
        }
        const FREE: [&str; 3] = ["arith.constant", "memref.load", "scf.yield"];
        let count = nested()
            .filter(|op| !FREE.contains(&op.full_name()))
            .count();
        if count > MOST_OPS {
            return Err(format!(
                "its body has {count} operations, more than {MOST_OPS}"
            ));
        }
        Ok(Self {
            step,
            buffer,
            store: Some(store),
            index: Some(index),
            value,
            ops,
        })
    }

    /// Bytes of an element.
    pub fn bytes(&self) -> u64 {
        bytes_of(self.buffer)
    }

    /// Bytes that are loaded for an element.
    pub fn loads(&self) -> u64 {
        let loads = self.ops.iter().flat_map(|op| op.walk_all());
        let loads = loads.filter(|op| op.is("memref.load"));
        loads.map(|op| bytes_of(op.operand_values()[0])).sum()
    }

    /// The values from outside that the computation uses.
    pub fn given(&self) -> HashSet<Key> {
        let ops = self.ops.iter().flat_map(|op| op.walk_all());
        ops.flat_map(OpExt::operand_values)
            .map(|value| value.key())
            .collect()
    }

    /// Whether the step does nothing but write the buffer; prefetches do not count.
    pub fn is_alone(&self) -> bool {
        let store = self.store.map(OpExt::key);
        let is_nothing = |op: &Op<'c>| can_be_repeated(*op) || op.is("memref.prefetch");
        let mut nested = self.step.nested().into_iter();
        nested.all(|op| Some(op.key()) == store || is_nothing(&op))
    }

    /// Computes an element in place of a load of it.
    pub fn compute_instead(&self, load: Op<'c>) {
        let at = InsertionPoint::Before(load);
        let mut here = Mapping::new();
        if let Some(index) = self.index {
            here.insert(index, load.operand_values()[1]);
        }
        for op in &self.ops {
            here.clone_op(*op, at);
        }
        load.replace_with(&[here.get(self.value)]);
    }

    /// Replaces a prefetch by prefetches of the computation's loads, except of buffers that
    /// the phase accesses anyway: it prefetches those itself.
    pub fn hint_instead(&self, hint: Op<'c>, phase: Op<'c>) {
        let i = hint.operand_values()[1];
        let known: HashSet<Key> = phase
            .nested()
            .into_iter()
            .flat_map(OpExt::operand_values)
            .map(|value| value.key())
            .collect();
        let mut asked = HashSet::new();
        for load in self.ops.iter().filter(|op| op.is("memref.load")) {
            let operands = load.operand_values();
            let is_own =
                operands.len() == 2 && Some(operands[1].key()) == self.index.map(|i| i.key());
            let source = operands[0];
            if is_own && !known.contains(&source.key()) && asked.insert(source.key()) {
                let copy = InsertionPoint::Before(hint).insert(hint.detached_clone());
                copy.set_operand_at(0, source);
                copy.set_operand_at(1, i);
            }
        }
        hint.erase();
    }

    /// Removes the store.
    pub fn drop_store(&self) {
        if let Some(store) = self.store {
            store.erase();
        }
    }
}

/// The operations of a block that a value is computed by.
fn slice<'c>(block: &[Op<'c>], value: Value<'c>) -> Vec<Op<'c>> {
    let mut needed = HashSet::from([value.key()]);
    let mut ops = Vec::new();
    for op in block.iter().rev() {
        if op
            .result_values()
            .iter()
            .any(|result| needed.contains(&result.key()))
        {
            let used = op.walk_all().into_iter().flat_map(OpExt::operand_values);
            needed.extend(used.map(|value| value.key()));
            ops.push(*op);
        }
    }
    ops.reverse();
    ops
}

/// Whether an operation has no effects, and may be repeated while its loads have the same
/// results.
fn can_be_repeated(op: Op) -> bool {
    const ALSO: [&str; 7] = [
        "memref.load",
        "memref.dim",
        "memref.cast",
        grid::View::NAME,
        ops::Yield::NAME,
        "scf.if",
        "scf.yield",
    ];
    let name = op.full_name();
    let is_arithmetic = ["arith.", "math.", math::PREFIX];
    is_arithmetic.iter().any(|family| name.starts_with(family)) || ALSO.contains(&name)
}

fn bytes_of(buffer: Value) -> u64 {
    element_type(buffer.r#type()).map_or(0, |t| u64::from(bit_width(t).div_ceil(8)))
}
