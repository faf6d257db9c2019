//! What `qd.algo.select` and `qd.algo.partition` say.

use qd_dialects::{
    builder::{Builder, V},
    ir::{Op, OpExt},
};

/// Their operands.
pub(super) struct Compact<'b, 'c> {
    pub input: V<'b, 'c>,
    pub flags: V<'b, 'c>,
    pub output: V<'b, 'c>,
    /// Of rank 0, or of rank 1 and at least one element.
    pub num_out: V<'b, 'c>,
    pub scratch: V<'b, 'c>,
    pub count: V<'b, 'c>,
    pub depth: u32,
}

impl<'b, 'c> Compact<'b, 'c> {
    pub fn of(b: &'b Builder<'c>, op: Op<'c>) -> Self {
        let operand = |i: usize| b.v(op.operand_values()[i]);
        Self {
            input: operand(0),
            flags: operand(1),
            output: operand(2),
            num_out: operand(3),
            scratch: operand(4),
            count: operand(5),
            depth: super::depth(op),
        }
    }
}
