//! Thread, lane and block ids, from a few special registers.

use super::{Register, Setting};
use qd_dialects::{
    builder::Builder,
    diagnostic::Result,
    ir::{Op, Value},
};

/// The register as `index`: none is negative.
fn index<'c>(
    b: &Builder<'c>,
    register: Register,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let value = (setting.hooks.register)(b, register);
    Ok(vec![value.to_index().value()])
}

pub(super) fn thread_id<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    index(b, Register::ThreadId, setting)
}

pub(super) fn block_id<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    index(b, Register::BlockId, setting)
}

pub(super) fn block_dim<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    index(b, Register::BlockDim, setting)
}

pub(super) fn grid_dim<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    index(b, Register::GridDim, setting)
}

/// Subgroups of so many threads.
fn subgroups<'c>(
    b: &Builder<'c>,
    threads: Register,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let log2 = i64::from(setting.wave.trailing_zeros());
    let subgroups = (setting.hooks.register)(b, threads) >> log2;
    Ok(vec![subgroups.value()])
}

/// A block has one dimension, so subgroups are made of neighbouring threads: the
/// lane is the thread's low bits, which costs less than asking for it and lets
/// LLVM see how the two hang together.
pub(super) fn lane_id<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let thread = (setting.hooks.register)(b, Register::ThreadId);
    Ok(vec![(thread & (setting.wave - 1)).value()])
}

pub(super) fn subgroup_id<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    subgroups(b, Register::ThreadId, setting)
}

pub(super) fn num_subgroups<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    subgroups(b, Register::BlockDim, setting)
}
