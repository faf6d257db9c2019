//! Private arrays of a thread (`memref.alloca`).

use super::{Setting, kernel::generic};
use crate::convert::descriptor;
use melior::ir::{ValueLike, attribute::TypeAttribute};
use qd_dialects::{
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{self, InsertionPoint, Op, OpExt, Value},
    melior,
};

/// At the top of the kernel: one in a loop is the same memory in each iteration,
/// and no stack grows.
pub(super) fn alloca<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let r#type = op.first_result().r#type();
    let extents: Option<Vec<i64>> =
        descriptor::shape(r#type).and_then(|shape| shape.into_iter().collect());
    let element = ir::element_type(r#type).and_then(|element| descriptor::stored(b, element));
    let (Some(extents), Some((element, _))) = (extents, element) else {
        return Err(Diagnostic::at(
            op,
            "has a size that is not known when the kernel is compiled",
        ));
    };
    let Some(entry) = entry(op) else {
        return Err(Diagnostic::at(op, "is in no function"));
    };
    let pointer = b.at(InsertionPoint::Before(entry), || {
        let allocated = b.result(
            "llvm.alloca",
            &[b.i64(extents.iter().product())],
            descriptor::pointer_in(b, setting.hooks.spaces.private),
            &[("elem_type", TypeAttribute::new(element).into())],
        );
        generic(b, allocated)
    });
    Ok(vec![
        descriptor::memref_from_pointer(b, pointer, None, r#type).value(),
    ])
}

/// The first op of the function around an op.
fn entry(op: Op<'_>) -> Option<Op<'_>> {
    let mut around = op.parent();
    while let Some(function) = around {
        if function.is("llvm.func") || function.is("func.func") {
            return function.body()?.first_operation();
        }
        around = function.parent();
    }
    None
}
