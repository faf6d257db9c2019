//! Barriers, memory ordering and backoff.

use super::intrinsic;
use crate::convert::memory::{self, Scopes};
use melior::ir::Attribute;
use qd_dialects::{attributes, builder::Builder, melior};

pub(super) const RDNA: Scopes = Scopes {
    block: Some(WORKGROUP),
    device: Some("agent"),
    rmw_has_order: true,
    // The instructions' order of zeros is not said.
    rmw_orders_zeros: false,
    by_words: true,
    adds_shared_doubles: false,
};

pub(super) const CDNA: Scopes = Scopes {
    adds_shared_doubles: true,
    ..RDNA
};

const WORKGROUP: &str = "workgroup";

/// Lanes of a wave go in step; it is the compiler that must not move accesses.
pub(super) fn subgroup_barrier(b: &Builder<'_>) {
    let scope = Some("wavefront");
    memory::fence(b, memory::RELEASE, scope);
    intrinsic::effect(b, "llvm.amdgcn.wave.barrier");
    memory::fence(b, memory::ACQUIRE, scope);
}

/// The instruction waits for waves and not for their accesses.
pub(super) fn block_barrier(b: &Builder<'_>) {
    memory::fence(b, memory::RELEASE, Some(WORKGROUP));
    b.op("rocdl.s.barrier", &[], &[], &[]);
    memory::fence(b, memory::ACQUIRE, Some(WORKGROUP));
}

/// Nanoseconds of 64 clocks, at about 2 GHz, and the most that `s_sleep` takes.
const SLEEP: (i64, i64) = (32, 127);

pub(super) fn pause<'c>(b: &Builder<'c>, nanoseconds: Attribute<'c>) {
    let (unit, most) = SLEEP;
    let wanted = attributes::int(nanoseconds).unwrap_or_default() / unit;
    let count = attributes::i32(b.context(), wanted.clamp(1, most) as i32);
    b.op("rocdl.s.sleep", &[], &[], &[("count", count)]);
}
