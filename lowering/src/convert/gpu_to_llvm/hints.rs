//! Hints to the device, which compute nothing: prefetches and pauses.

use super::Setting;
use crate::convert::descriptor;
use qd_dialects::{
    builder::Builder,
    diagnostic::Result,
    ir::{Op, OpExt, Value},
};

pub(super) fn pause<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    (setting.hooks.pause)(b, op.attr("nanoseconds").expect("verified"));
    Ok(Vec::new())
}

/// Nothing where the target has no prefetch, or the elements no form that is known
/// here, as `complex`: it is a hint.
pub(super) fn prefetch<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    let prefetch = (setting.hooks.prefetch)(setting.target);
    let stored = descriptor::stored(b, operands[0].element());
    if let (Some(prefetch), Some(_)) = (prefetch, stored) {
        prefetch(descriptor::pointer_of_element(
            b,
            operands[0],
            &operands[1..],
        ));
    }
    Ok(Vec::new())
}
