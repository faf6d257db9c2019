//! Ballots.

use super::Setting;
use qd_dialects::{
    builder::Builder,
    diagnostic::Result,
    ir::{Op, OpExt, Value},
};

/// `qd.simt.ballot`, by the vendor's: the lanes that there are, zero-extended to the mask's 64.
pub fn ballot<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let predicate = b.v(op.operand_values()[0]);
    let mask = (setting.hooks.ballot)(predicate, setting);
    Ok(vec![mask.to_i64().value()])
}
