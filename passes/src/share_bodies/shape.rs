//! A hash of a body that is equal for bodies that may be unified: only bodies with equal
//! hashes are compared.

use super::{
    arguments::is_plain,
    unify::{constant, is_constant, may_be_left_out},
};
use qd_dialects::{
    attributes::names,
    ir::{Block, Key, Op, OpExt, Value, ValueExt, arguments, operations},
    melior::ir::{AttributeLike, TypeLike, ValueLike},
};
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// The shape of a body: its ops and what they are computed of, but for what may
/// differ between bodies that are the same.
pub(super) fn shape(body: Op) -> u64 {
    let mut shape = Shape::default();
    for size in [names::THREADS, names::WAVE].map(|name| body.attr(name)) {
        size.map(|size| size.to_raw().ptr as usize)
            .hash(&mut shape.hasher);
    }
    if let Some(block) = body.body() {
        shape.block(block);
    }
    shape.hasher.finish()
}

#[derive(Default)]
struct Shape {
    hasher: DefaultHasher,
    numbers: HashMap<Key, usize>,
    next: usize,
}

impl Shape {
    fn add(&mut self, what: impl Hash) {
        what.hash(&mut self.hasher);
    }

    fn define(&mut self, value: Value) {
        self.add(type_of(value));
        self.numbers.insert(value.key(), self.next);
        self.next += 1;
    }

    fn block(&mut self, block: Block) {
        for argument in arguments(block) {
            self.define(argument);
        }
        for op in operations(block).into_iter().filter(|op| !is_constant(*op)) {
            self.op(op);
        }
        self.add("end");
    }

    fn op(&mut self, op: Op) {
        let operands = op.operand_values();
        if may_be_left_out(op) {
            // The other body has its operand instead.
            if let Some(number) = self.numbers.get(&operands[0].key()).copied() {
                self.numbers.insert(op.first_result().key(), number);
            }
            return;
        }
        let name = op.full_name();
        self.add((name, operands.len(), op.region_count()));
        for operand in operands {
            match constant(operand) {
                // An argument, or the same in both.
                Some(value) => self.add((type_of(operand), (!is_plain(name)).then_some(value))),
                None => {
                    let number = self.numbers.get(&operand.key()).copied();
                    self.add(number);
                }
            }
        }
        for region in 0..op.region_count() {
            if let Some(block) = op.region_block(region) {
                self.add(block.next_in_region().is_some());
                self.block(block);
            }
        }
        for result in op.result_values() {
            self.define(result);
        }
    }
}

fn type_of(value: Value) -> usize {
    value.r#type().to_raw().ptr as usize
}
