//! Moves between lanes, of one or two words.

use super::{Register, Setting, Source};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, Value, ValueExt, bit_width},
    ops::{ShuffleMode, simt},
};

/// `qd.simt.shuffle`, by the vendor's move of a word.
pub fn shuffle<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let shuffle = simt::Shuffle::cast(op);
    let (value, lane) = (b.v(shuffle.value()), b.v(shuffle.lane()));
    let source = match shuffle.mode() {
        ShuffleMode::Idx => Source::Lane(lane),
        ShuffleMode::Up => Source::Up(lane),
        ShuffleMode::Down => Source::Down(lane),
        ShuffleMode::Xor => Source::Xor(lane),
    };
    let moved = move_value(value, source, setting);
    let result = match is_there(b, source, setting) {
        Some(is_there) if !shuffle.in_range() => is_there.select(moved, value),
        _ => moved,
    };
    Ok(vec![result.value()])
}

/// Whether there is a lane so far up or down, where the vendor's move does not see to it.
fn is_there<'b, 'c>(
    b: &'b Builder<'c>,
    source: Source<'b, 'c>,
    setting: &Setting<'_>,
) -> Option<V<'b, 'c>> {
    let (Source::Up(distance) | Source::Down(distance)) = source else {
        return None;
    };
    let wave = setting.wave;
    if setting.hooks.keeps_own {
        let known = distance.value().constant_int();
        let is_near = known.is_some_and(|distance| (0..wave).contains(&distance));
        return (!is_near).then(|| distance.lt(wave));
    }
    let lane = (setting.hooks.register)(b, Register::ThreadId) & (wave - 1);
    Some(match source {
        Source::Up(_) => distance.le(lane),
        _ => distance.lt(-lane + wave),
    })
}

/// `qd.simt.broadcast`, by the vendor's move of a word.
pub fn broadcast<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let broadcast = simt::Broadcast::cast(op);
    let source = Source::Uniform(b.v(broadcast.lane()));
    Ok(vec![
        move_value(b.v(broadcast.value()), source, setting).value(),
    ])
}

/// `qd.simt.broadcast_first`, by the vendor's move of a word.
pub fn broadcast_first<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let value = b.v(simt::BroadcastFirst::cast(op).value());
    Ok(vec![move_value(value, Source::First, setting).value()])
}

/// A value of 32 or 64 bits from another lane.
fn move_value<'b, 'c>(
    value: V<'b, 'c>,
    source: Source<'b, 'c>,
    setting: &Setting<'_>,
) -> V<'b, 'c> {
    let b = value.builder();
    let move_word = |word| (setting.hooks.shuffle)(word, source, setting);
    if bit_width(value.ty()) == 32 {
        return move_word(value);
    }
    let word = value.bitcast(b.int_type(64));
    let low = move_word(word.to_i32());
    let high = move_word((word >> 32).to_i32());
    ((high.to_i64() << 32) | low.to_i64()).bitcast(value.ty())
}
