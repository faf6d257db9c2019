//! Barriers, fences, atomics and views.

use super::Setting;
use crate::convert::memory;
use qd_dialects::{
    builder::Builder,
    diagnostic::Result,
    ir::{Op, Value},
};

pub(super) fn subgroup_sync<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    (setting.hooks.subgroup_barrier)(b);
    Ok(Vec::new())
}

pub(super) fn block_sync<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    (setting.hooks.block_barrier)(b);
    Ok(Vec::new())
}

/// Sequentially consistent, as `__threadfence_block` is: the op promises an
/// order of all memory operations, stores before loads included. A subgroup has
/// no smaller scope.
pub(super) fn block_fence<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    memory::fence(b, memory::SEQ_CST, setting.hooks.scopes.block);
    Ok(Vec::new())
}

pub(super) fn device_fence<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    memory::fence(b, memory::SEQ_CST, setting.hooks.scopes.device);
    Ok(Vec::new())
}

pub(super) fn view<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting<'_>) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![memory::view(b, op).value()])
}

pub(super) fn atomic_rmw<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let old = memory::atomic_rmw(b, op, &setting.hooks.scopes);
    Ok(vec![old.value()])
}

pub(super) fn atomic_load<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let value = memory::atomic_load(b, op, &setting.hooks.scopes);
    Ok(vec![value.value()])
}

pub(super) fn atomic_store<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    memory::atomic_store(b, op, &setting.hooks.scopes);
    Ok(Vec::new())
}

pub(super) fn atomic_exchange<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let old = memory::atomic_exchange(b, op, &setting.hooks.scopes);
    Ok(vec![old.value()])
}

pub(super) fn atomic_cas<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let old = memory::atomic_cas(b, op, &setting.hooks.scopes);
    Ok(vec![old.value()])
}
