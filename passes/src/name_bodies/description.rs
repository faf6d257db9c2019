//! Ops as bytes that are the same in every process, independent of where the ops are.
//!
//! MLIR's text would serve as well, and takes ten times as long: it prints each type and
//! attribute at every use.

use qd_dialects::{
    ir::{Block, Key, Op, OpExt, ValueExt, arguments, block_key, operations},
    melior::ir::{Attribute, AttributeLike, TypeLike, ValueLike},
};
use std::{collections::HashMap, fmt::Display};

/// Ops, one after the other.
#[derive(Clone, Default)]
pub struct Description {
    bytes: Vec<u8>,
    /// Values and blocks, by the order in which they are first met.
    numbers: HashMap<Key, u32>,
    /// Types and attributes, likewise: each is spelled out once.
    spelled: HashMap<usize, u32>,
}

impl Description {
    pub fn hash(&self) -> blake3::Hash {
        blake3::hash(&self.bytes)
    }

    /// Adds an op with all that is in it.
    pub fn op(&mut self, op: Op<'_>) {
        self.text(op.full_name());
        let operands = op.operand_values();
        self.number(operands.len());
        for operand in operands {
            self.met(operand.key());
        }
        let attributes: Vec<_> = op.attributes().collect();
        self.number(attributes.len());
        for (name, value) in attributes {
            self.text(name.as_string_ref().as_str().unwrap_or_default());
            self.attribute(Some(value));
        }
        let results = op.result_values();
        self.number(results.len());
        for result in results {
            self.met(result.key());
            let r#type = result.r#type();
            self.spelled(r#type.to_raw().ptr as usize, &r#type);
        }
        self.number(op.successor_count());
        for block in op.successors() {
            self.met(block_key(block));
        }
        self.number(op.region_count());
        for region in 0..op.region_count() {
            let mut block = op.region_block(region);
            while let Some(current) = block {
                self.block(current);
                block = current.next_in_region();
            }
            self.number(0);
        }
    }

    fn block(&mut self, block: Block<'_>) {
        self.number(1);
        self.met(block_key(block));
        let arguments = arguments(block);
        self.number(arguments.len());
        for argument in arguments {
            self.met(argument.key());
            let r#type = argument.r#type();
            self.spelled(r#type.to_raw().ptr as usize, &r#type);
        }
        let ops = operations(block);
        self.number(ops.len());
        for op in ops {
            self.op(op);
        }
    }

    /// Adds an attribute, or that there is none.
    pub fn attribute(&mut self, attribute: Option<Attribute<'_>>) {
        match attribute {
            Some(attribute) => self.spelled(attribute.to_raw().ptr as usize, &attribute),
            None => self.number(u32::MAX as usize),
        }
    }

    /// Adds a uniqued type or attribute, by its address.
    fn spelled(&mut self, address: usize, what: &dyn Display) {
        let next = self.spelled.len() as u32;
        let number = *self.spelled.entry(address).or_insert(next);
        self.number(number as usize);
        if number == next {
            self.text(&what.to_string());
        }
    }

    fn met(&mut self, key: Key) {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        self.number(number as usize);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, number: usize) {
        self.bytes.extend_from_slice(&(number as u32).to_le_bytes());
    }
}
