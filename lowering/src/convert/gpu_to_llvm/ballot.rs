//! Ballots.

use super::Setting;
use qd_dialects::{
    builder::Builder,
    diagnostic::Result,
    ir::{Op, Value},
    ops::simt,
};

/// `qd.simt.ballot`, by the vendor's: the lanes that there are, zero-extended to the mask's 64.
pub fn ballot<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let predicate = b.v(simt::Ballot::cast(op).predicate());
    let mask = (setting.hooks.ballot)(predicate, setting);
    Ok(vec![mask.to_i64().value()])
}
