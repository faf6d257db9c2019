//! Moves between lanes. Words of 64 bits move as they are, which takes the
//! feature `shaderSubgroupExtendedTypes`; a Vulkan 1.3 device has it, as it has
//! broadcasts from a lane that is not constant.

use super::{Setting, types::case};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value},
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

/// The lane is dynamically uniform, which is all that SPIR-V asks for.
pub(super) fn broadcast<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let operands = b.vs(&op.operand_values());
    Ok(vec![
        of_subgroup("Broadcast", operands[0], operands[1]).value(),
    ])
}

pub(super) fn broadcast_first<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let value = b.v(op.operand_values()[0]);
    Ok(vec![of_subgroup("Broadcast", value, b.i32(0)).value()])
}
