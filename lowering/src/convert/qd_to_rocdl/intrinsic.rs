//! Calls of LLVM's intrinsics for which ROCDL has no op, or which take any type there.

use melior::ir::{Attribute, Type, attribute::DenseI32ArrayAttribute};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    melior,
};

/// One with a result.
pub(super) fn result<'b, 'c>(
    b: &'b Builder<'c>,
    name: &str,
    operands: &[V<'b, 'c>],
    to: Type<'c>,
) -> V<'b, 'c> {
    b.result(CALL, operands, to, &named(b, name, operands.len()))
}

/// One without operands and result.
pub(super) fn effect(b: &Builder<'_>, name: &str) {
    b.op(CALL, &[], &[], &named(b, name, 0));
}

const CALL: &str = "llvm.call_intrinsic";

fn named<'c>(b: &Builder<'c>, name: &str, operands: usize) -> [(&'static str, Attribute<'c>); 3] {
    let sizes = |sizes: &[i32]| DenseI32ArrayAttribute::new(b.context(), sizes).into();
    [
        ("intrin", attributes::string(b.context(), name)),
        ("op_bundle_sizes", sizes(&[])),
        ("operandSegmentSizes", sizes(&[operands as i32, 0])),
    ]
}
