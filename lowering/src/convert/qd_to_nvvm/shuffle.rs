//! Moves between lanes, as `shfl.sync`.

use crate::convert::gpu_to_llvm::{Setting, Source};
use melior::ir::Attribute;
use qd_dialects::{
    builder::{Builder, V},
    melior,
};

/// Every lane of the warp.
pub(super) fn everyone<'b, 'c>(b: &'b Builder<'c>) -> V<'b, 'c> {
    b.i32(-1)
}

/// An enum of the dialect as an attribute: `#nvvm<shfl_kind idx>`.
pub(super) fn case<'c>(b: &Builder<'c>, name: &str, case: &str) -> Attribute<'c> {
    Attribute::parse(b.context(), &format!("#nvvm<{name} {case}>")).expect("an enum of nvvm")
}

/// `i32` or `f32`.
pub(super) fn move_word<'b, 'c>(
    value: V<'b, 'c>,
    source: Source<'b, 'c>,
    _: &Setting<'_>,
) -> V<'b, 'c> {
    let b = value.builder();
    let (mode, lane) = match source {
        Source::Lane(lane) | Source::Uniform(lane) => ("idx", lane),
        Source::First => ("idx", b.i32(0)),
        Source::Up(delta) => ("up", delta),
        Source::Down(delta) => ("down", delta),
        Source::Xor(mask) => ("bfly", mask),
    };
    // Which lanes are out of reach: those below the first for `up`, and those
    // above the last for the others.
    let clamp = b.i32(if mode == "up" { 0 } else { 31 });
    b.result(
        "nvvm.shfl.sync",
        &[everyone(b), value, lane, clamp],
        value.ty(),
        &[("kind", case(b, "shfl_kind", mode))],
    )
}
