//! The extents of arrays.

use super::Setting;
use crate::convert::descriptor;
use qd_dialects::{
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value},
};
use qd_passes::expand_dims::constant_dimension;

/// From the descriptor. Upstream's conversion, which may have turned the constant into one of
/// LLVM's before it comes here, then takes it for a number that is not known, and indexes the
/// extents in private memory.
pub(super) fn extent<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let Some(dimension) = constant_dimension(op) else {
        return Err(Diagnostic::at(
            op,
            "has a dimension that is not a constant: qd-expand-dims makes it one",
        ));
    };
    let memref = b.v(op.operand_values()[0]);
    Ok(vec![descriptor::extent(b, memref, dimension).value()])
}
