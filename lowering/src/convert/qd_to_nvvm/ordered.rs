//! Barriers, fences, atomics, views and assertions.

use super::shuffle::everyone;
use crate::convert::memory::{self, Scopes};
use qd_dialects::{
    builder::Builder,
    diagnostic::Result,
    ir::{Op, OpExt, Value},
};

/// LLVM's back end emits a bare `atom` for a read-modify-write of any order, and a loop
/// around PTX's `min` and `max`, to which −0 is below +0.
const SCOPES: &Scopes = &Scopes {
    block: Some("block"),
    device: Some("device"),
    rmw_has_order: false,
    rmw_orders_zeros: true,
};

pub(super) fn subgroup_sync<'c>(b: &Builder<'c>, _: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    b.op("nvvm.bar.warp.sync", &[everyone(b).value()], &[], &[]);
    Ok(Vec::new())
}

pub(super) fn block_sync<'c>(b: &Builder<'c>, _: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    b.op("nvvm.barrier0", &[], &[], &[]);
    Ok(Vec::new())
}

/// Sequentially consistent, as `__threadfence_block` is: the op promises an
/// order of all memory operations, stores before loads included. A subgroup has
/// no smaller scope.
pub(super) fn block_fence<'c>(b: &Builder<'c>, _: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    memory::fence(b, memory::SEQ_CST, SCOPES.block);
    Ok(Vec::new())
}

pub(super) fn device_fence<'c>(b: &Builder<'c>, _: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    memory::fence(b, memory::SEQ_CST, SCOPES.device);
    Ok(Vec::new())
}

pub(super) fn view<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    Ok(vec![memory::view(b, op, &operands).value()])
}

pub(super) fn atomic_rmw<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    Ok(vec![memory::atomic_rmw(b, op, &operands, SCOPES).value()])
}

pub(super) fn atomic_load<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    Ok(vec![memory::atomic_load(b, op, &operands, SCOPES).value()])
}

pub(super) fn atomic_store<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    memory::atomic_store(b, op, &operands, SCOPES);
    Ok(Vec::new())
}

pub(super) fn atomic_cas<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    Ok(vec![memory::atomic_cas(b, op, &operands, SCOPES).value()])
}

/// There is no `abort` to call: the kernel traps, and its launch fails.
pub(super) fn assert<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let holds = b.v(op.operand_values()[0]);
    b.if_(holds.eq(0), || {
        b.op("llvm.intr.trap", &[], &[], &[]);
    });
    Ok(Vec::new())
}
