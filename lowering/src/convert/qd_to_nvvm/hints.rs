//! Ops that compute nothing, and say what is to come.

use crate::{
    convert::descriptor,
    targets::{Kind, Target},
};
use melior::ir::Attribute;
use qd_dialects::{
    builder::Builder,
    diagnostic::Result,
    ir::{Op, OpExt, Value},
    melior,
};

/// The warp sleeps, for anything up to twice as long as it says.
pub(super) fn pause<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let nanoseconds = op.attr("nanoseconds").expect("verified");
    let i32 = b.int_type(32);
    let duration = b.result("arith.constant", &[], i32, &[("value", nanoseconds)]);
    b.op("nvvm.nanosleep", &[duration.value()], &[], &[]);
    Ok(Vec::new())
}

/// Whether there is a form of `memref.prefetch`: it is a hint, and else falls away.
pub(super) fn has_prefetch(target: &Target) -> bool {
    matches!(target.capabilities.kind, Kind::Nvptx(architecture) if architecture.has_prefetch)
}

/// Into the second level of caches, which all multiprocessors share. Nothing where
/// the elements have no form that is known here, as `complex`: it is a hint.
pub(super) fn prefetch<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    if descriptor::stored(b, operands[0].element()).is_none() {
        return Ok(Vec::new());
    }
    let address = descriptor::pointer_of_element(b, operands[0], &operands[1..]);
    // The short form of the attribute cannot be parsed.
    let level = Attribute::parse(b.context(), "#nvvm<prefetch_cache_level L2>");
    let level = level.expect("the nvvm dialect");
    let address = [address.value()];
    b.op("nvvm.prefetch", &address, &[], &[("cacheLevel", level)]);
    Ok(Vec::new())
}
