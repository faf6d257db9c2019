//! Hints to the device: prefetches and pauses.

use crate::{
    convert::gpu_to_llvm::Prefetch,
    targets::{Kind, Target},
};
use melior::ir::Attribute;
use qd_dialects::{
    builder::{Builder, V},
    melior,
};

/// The warp sleeps, for anything up to twice as long as it says.
pub(super) fn pause<'c>(b: &Builder<'c>, nanoseconds: Attribute<'c>) {
    let i32 = b.int_type(32);
    let duration = b.result("arith.constant", &[], i32, &[("value", nanoseconds)]);
    b.op("nvvm.nanosleep", &[duration.value()], &[], &[]);
}

/// Where LLVM selects PTX's.
pub(super) fn prefetch(target: &Target) -> Option<Prefetch> {
    match target.capabilities.kind {
        Kind::Nvptx(architecture) if architecture.has_prefetch => Some(into_l2),
        _ => None,
    }
}

/// Into the second level of caches, which all multiprocessors share.
fn into_l2(address: V<'_, '_>) {
    let b = address.builder();
    // The short form of the attribute cannot be parsed.
    let level = Attribute::parse(b.context(), "#nvvm<prefetch_cache_level L2>");
    let level = level.expect("the nvvm dialect");
    let address = [address.value()];
    b.op("nvvm.prefetch", &address, &[], &[("cacheLevel", level)]);
}
