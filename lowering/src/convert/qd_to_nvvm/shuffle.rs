//! Moves between lanes, as `shfl.sync` of one or two words.

use melior::ir::Attribute;
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, bit_width},
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

pub(super) fn shuffle<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    let mode = op.attr("mode").map(attributes::case_of).unwrap_or_default();
    let mode = match mode.as_str() {
        "idx" => "idx",
        "up" => "up",
        "down" => "down",
        "xor" => "bfly",
        _ => return Err(Diagnostic::at(op, format!("has the unknown mode '{mode}'"))),
    };
    Ok(vec![move_value(operands[0], mode, operands[1]).value()])
}

pub(super) fn broadcast<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    Ok(vec![move_value(operands[0], "idx", operands[1]).value()])
}

pub(super) fn broadcast_first<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let value = b.v(op.operand_values()[0]);
    Ok(vec![move_value(value, "idx", b.i32(0)).value()])
}

/// A value of 32 or 64 bits from another lane.
fn move_value<'b, 'c>(value: V<'b, 'c>, mode: &str, lane: V<'b, 'c>) -> V<'b, 'c> {
    let b = value.builder();
    if bit_width(value.ty()) == 32 {
        return move_word(value, mode, lane);
    }
    let word = value.bitcast(b.int_type(64));
    let low = move_word(word.to_i32(), mode, lane);
    let high = move_word((word >> 32).to_i32(), mode, lane);
    ((high.to_i64() << 32) | low.to_i64()).bitcast(value.ty())
}

/// `i32` or `f32`.
fn move_word<'b, 'c>(value: V<'b, 'c>, mode: &str, lane: V<'b, 'c>) -> V<'b, 'c> {
    let b = value.builder();
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
