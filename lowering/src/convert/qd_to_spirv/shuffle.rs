//! Moves between lanes. Words of 64 bits move as they are, which takes the
//! feature `shaderSubgroupExtendedTypes`; a Vulkan 1.3 device has it, as it has
//! broadcasts from a lane that is not constant.

use super::{
    Setting,
    types::{self, case},
};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, ValueExt},
};

fn of_subgroup<'b, 'c>(name: &str, value: V<'b, 'c>, lane: V<'b, 'c>) -> V<'b, 'c> {
    let b = value.builder();
    b.result(
        &format!("spirv.GroupNonUniform{name}"),
        &[value, lane],
        value.ty(),
        &[("execution_scope", case(b, "scope", "Subgroup"))],
    )
}

pub(super) fn shuffle<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    let mode = op.attr("mode").map(attributes::case_of).unwrap_or_default();
    let name = match mode.as_str() {
        "idx" => "Shuffle",
        "up" => "ShuffleUp",
        "down" => "ShuffleDown",
        "xor" => "ShuffleXor",
        _ => return Err(Diagnostic::at(op, format!("has the unknown mode '{mode}'"))),
    };
    Ok(vec![of_subgroup(name, operands[0], operands[1]).value()])
}

/// A lane that is not constant is dynamically uniform, which is all that SPIR-V
/// asks for; the dialect's broadcast asks for more, and a shuffle does not.
pub(super) fn broadcast<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    let result = match operands[1].value().constant_int() {
        Some(lane) => from_lane(operands[0], lane as i32),
        None => of_subgroup("Shuffle", operands[0], operands[1]),
    };
    Ok(vec![result.value()])
}

pub(super) fn broadcast_first<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let value = b.v(op.operand_values()[0]);
    Ok(vec![from_lane(value, 0).value()])
}

fn from_lane<'b, 'c>(value: V<'b, 'c>, lane: i32) -> V<'b, 'c> {
    of_subgroup("Broadcast", value, types::constant(value.builder(), lane))
}
