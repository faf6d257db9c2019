//! Barriers and memory ordering.

use super::shuffle::everyone;
use crate::convert::memory::Scopes;
use qd_dialects::builder::Builder;

/// LLVM's back end emits a bare `atom` for a read-modify-write of any order, and a loop
/// around PTX's `min` and `max`, to which −0 is below +0.
pub(super) const SCOPES: Scopes = Scopes {
    block: Some("block"),
    device: Some("device"),
    rmw_has_order: false,
    rmw_orders_zeros: true,
    by_words: false,
    adds_shared_doubles: true,
};

pub(super) fn subgroup_barrier(b: &Builder<'_>) {
    b.op("nvvm.bar.warp.sync", &[everyone(b).value()], &[], &[]);
}

pub(super) fn block_barrier(b: &Builder<'_>) {
    b.op("nvvm.barrier0", &[], &[], &[]);
}
