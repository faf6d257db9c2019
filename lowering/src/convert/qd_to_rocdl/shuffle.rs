//! Moves between lanes: `ds_bpermute`, `readlane`, and DPP where the distance is known.

use super::{architecture, dpp, intrinsic};
use crate::convert::gpu_to_llvm::{Setting, Source};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    ir::ValueExt,
};

/// `i32` or `f32`.
pub(super) fn move_word<'b, 'c>(
    value: V<'b, 'c>,
    source: Source<'b, 'c>,
    setting: &Setting<'_>,
) -> V<'b, 'c> {
    let b = value.builder();
    let word = value.bitcast(b.int_type(32));
    let lane = || this_lane(b, setting);
    let moved = match source {
        Source::First => b.result("rocdl.readfirstlane", &[word], word.ty(), &[]),
        Source::Uniform(lane) => b.result("rocdl.readlane", &[word, lane], word.ty(), &[]),
        Source::Lane(lane) => permute(word, lane, setting),
        Source::Up(delta) => permute(word, lane() - delta, setting),
        Source::Down(delta) => permute(word, lane() + delta, setting),
        Source::Xor(mask) => {
            let known = mask.value().constant_int();
            let exchanged = known.and_then(|mask| dpp::exchange(word, mask, setting));
            exchanged.unwrap_or_else(|| permute(word, lane() ^ mask, setting))
        }
    };
    moved.bitcast(value.ty())
}

/// A block has one dimension: the lane is the thread's low bits.
pub(super) fn this_lane<'b, 'c>(b: &'b Builder<'c>, setting: &Setting<'_>) -> V<'b, 'c> {
    let thread = (setting.hooks.register)(b, crate::convert::gpu_to_llvm::Register::ThreadId);
    thread & (setting.wave - 1)
}

/// The word of the lane of that number, which each lane chooses.
fn permute<'b, 'c>(word: V<'b, 'c>, lane: V<'b, 'c>, setting: &Setting<'_>) -> V<'b, 'c> {
    let b = word.builder();
    if setting.wave < 64 || !architecture(setting.target).permutes_halves {
        return bpermute(word, lane << 2);
    }
    // To LLVM the instruction reads from the whole wave: of a number that it finds to be the
    // same in all lanes it would make a `readlane`.
    let bytes = opaque(lane << 2);
    let own = bpermute(word, bytes);
    let other = bpermute(exchange_halves(word), bytes);
    let crosses = (lane ^ this_lane(b, setting)) & 32;
    crosses.eq(0).select(own, other)
}

/// What the lane has whose number differs in the highest bit of six.
pub(super) fn exchange_halves<'b, 'c>(word: V<'b, 'c>) -> V<'b, 'c> {
    let b = word.builder();
    // LLVM 22 does not know that the instruction depends on who is there, and moves it into the
    // branch that uses it. What it knows nothing of stays.
    opaque(intrinsic::result(
        b,
        "llvm.amdgcn.permlane64",
        &[word],
        word.ty(),
    ))
}

/// By the lane's number times four.
pub(super) fn bpermute<'b, 'c>(word: V<'b, 'c>, bytes: V<'b, 'c>) -> V<'b, 'c> {
    let b = word.builder();
    b.result("rocdl.ds_bpermute", &[bytes, word], word.ty(), &[])
}

/// The same value, of which LLVM knows nothing, and which it does not make elsewhere: inline
/// assembly is convergent (`emit::llvm`).
fn opaque<'b, 'c>(value: V<'b, 'c>) -> V<'b, 'c> {
    let b = value.builder();
    let text = |text: &str| attributes::string(b.context(), text);
    b.result(
        "llvm.inline_asm",
        &[value],
        value.ty(),
        &[("asm_string", text("")), ("constraints", text("=v,0"))],
    )
}
