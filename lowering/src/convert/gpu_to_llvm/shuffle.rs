//! Moves between lanes, of one or two words.

use super::{Setting, Source};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, bit_width},
    ops::simt,
};

/// `qd.simt.shuffle`, by the vendor's move of a word.
pub fn shuffle<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    let lane = operands[1];
    let mode = op.attr("mode").map(attributes::case_of).unwrap_or_default();
    let source = match mode.as_str() {
        "idx" => Source::Lane(lane),
        "up" => Source::Up(lane),
        "down" => Source::Down(lane),
        "xor" => Source::Xor(lane),
        _ => return Err(Diagnostic::at(op, format!("has the unknown mode '{mode}'"))),
    };
    Ok(vec![move_value(operands[0], source, setting).value()])
}

/// `qd.simt.broadcast`, by the vendor's move of a word.
pub fn broadcast<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    let source = Source::Uniform(operands[1]);
    Ok(vec![move_value(operands[0], source, setting).value()])
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
