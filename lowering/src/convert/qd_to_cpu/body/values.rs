//! Where an operand's value is: in SSA form, in an array, or recomputed.

use super::BodyLowering;
use crate::convert::descriptor;
use melior::ir::{Type, ValueLike};
use qd_dialects::{
    builder::V,
    clone::Mapping,
    ir::{Op, OpExt, Value, ValueExt},
    melior,
    ops::simt,
};

/// Values of one thread, while its loop body is built.
pub(super) struct Thread<'b, 'c> {
    /// The thread's number.
    pub(super) id: V<'b, 'c>,
    pub(super) values: Mapping<'c>,
}

impl<'b, 'c> BodyLowering<'b, 'c> {
    /// Whether the op is recomputed at each use: thread ids and short arithmetic
    /// on them.
    pub(super) fn is_cheap(&self, op: Op<'c>) -> bool {
        let mut budget = 8;
        self.cheap(op, &mut budget)
    }

    fn cheap(&self, op: Op<'c>, budget: &mut i32) -> bool {
        *budget -= 1;
        if *budget < 0 {
            return false;
        }
        let name = op.full_name();
        if is_thread_id(name) {
            return true;
        }
        let simple = matches!(
            name,
            "arith.addi"
                | "arith.subi"
                | "arith.muli"
                | "arith.andi"
                | "arith.ori"
                | "arith.xori"
                | "arith.shli"
                | "arith.shrui"
                | "arith.index_cast"
                | "arith.index_castui"
                | "arith.extui"
                | "arith.extsi"
                | "arith.trunci"
                | "arith.cmpi"
        );
        simple
            && op.operand_values().iter().all(|operand| {
                self.once.has(*operand)
                    || operand
                        .defining_op()
                        .is_some_and(|source| self.cheap(source, budget))
            })
    }

    /// The replacement of a value that is computed once for all active threads.
    pub fn uniform_value(&self, value: Value<'c>) -> Option<V<'b, 'c>> {
        self.mapping.find(value).map(|v| self.b.v(v))
    }

    /// A new array of one element per thread.
    pub fn new_array(&self, element: Type<'c>) -> V<'b, 'c> {
        let element = descriptor::without_memory_space(self.b, element);
        self.allocate(&format!("memref<{}x{element}>", self.threads))
    }

    pub(super) fn allocate(&self, r#type: &str) -> V<'b, 'c> {
        let r#type = Type::parse(self.b.context(), r#type).expect("a memref of scalars");
        self.b.at(self.entry, || {
            let segments =
                melior::ir::attribute::DenseI32ArrayAttribute::new(self.b.context(), &[0, 0])
                    .into();
            let alignment = qd_dialects::attributes::i64(self.b.context(), 64);
            self.b.result(
                "memref.alloca",
                &[],
                r#type,
                &[("operandSegmentSizes", segments), ("alignment", alignment)],
            )
        })
    }

    /// The array of a varying value, made if there is none yet.
    pub fn array_of(&mut self, value: Value<'c>) -> V<'b, 'c> {
        if let Some(array) = self.arrays.get(&value.key()) {
            return *array;
        }
        let array = self.new_array(value.r#type());
        self.arrays.insert(value.key(), array);
        array
    }

    /// Makes an array hold a value, element by thread.
    pub fn define(&mut self, value: Value<'c>, array: V<'b, 'c>) {
        self.arrays.insert(value.key(), array);
    }

    /// A value as thread `t` has it, which need not be the thread whose loop this
    /// is.
    pub fn read(&self, value: Value<'c>, t: V<'b, 'c>) -> V<'b, 'c> {
        let mut thread = Thread {
            id: t,
            values: Mapping::new(),
        };
        self.b.v(self.in_thread(&mut thread, value))
    }

    pub(super) fn in_thread(&self, thread: &mut Thread<'b, 'c>, value: Value<'c>) -> Value<'c> {
        if let Some(known) = thread.values.find(value) {
            return known;
        }
        if let Some(uniform) = self.uniform_value(value) {
            return uniform.value();
        }
        let found = if let Some(array) = self.arrays.get(&value.key()) {
            array.at(thread.id).value()
        } else if let Some(op) = value.defining_op() {
            self.recompute(thread, op)
        } else {
            value
        };
        thread.values.insert(value, found);
        found
    }

    fn recompute(&self, thread: &mut Thread<'b, 'c>, op: Op<'c>) -> Value<'c> {
        if let Some(id) = self.thread_id_value(op.full_name(), thread.id) {
            return id.value();
        }
        let mut values = Mapping::new();
        for operand in op.operand_values() {
            values.insert(operand, self.in_thread(thread, operand));
        }
        values.clone_op(op, self.b.insertion_point()).first_result()
    }

    /// Thread and lane ids in thread `t`.
    pub(super) fn thread_id_value(&self, name: &str, t: V<'b, 'c>) -> Option<V<'b, 'c>> {
        Some(match name {
            simt::BlockThreadId::NAME => t,
            simt::LaneId::NAME => (t & (self.wave - 1)).to_i32(),
            simt::SubgroupId::NAME => (t >> i64::from(self.wave.trailing_zeros())).to_i32(),
            simt::Elect::NAME => (t & (self.wave - 1)).eq(0),
            _ => return None,
        })
    }

    /// Ids and sizes of the block and the grid.
    pub(super) fn block_id_value(&self, name: &str) -> Option<V<'b, 'c>> {
        let b = self.b;
        Some(match name {
            simt::BlockId::NAME => self.block_id,
            simt::GridDim::NAME => self.grid_dim,
            simt::BlockDim::NAME => b.index(self.threads),
            simt::SubgroupSize::NAME => b.i32(self.wave as i32),
            simt::Log2SubgroupSize::NAME => b.i32(self.wave.trailing_zeros() as i32),
            simt::NumSubgroups::NAME => b.i32((self.threads / self.wave) as i32),
            _ => return None,
        })
    }
}

pub(super) fn is_thread_id(name: &str) -> bool {
    matches!(
        name,
        simt::BlockThreadId::NAME | simt::LaneId::NAME | simt::SubgroupId::NAME | simt::Elect::NAME
    )
}

pub(super) fn is_block_id(name: &str) -> bool {
    matches!(
        name,
        simt::BlockId::NAME
            | simt::GridDim::NAME
            | simt::BlockDim::NAME
            | simt::SubgroupSize::NAME
            | simt::Log2SubgroupSize::NAME
            | simt::NumSubgroups::NAME
    )
}
