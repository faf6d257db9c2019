//! Moves between lanes. Words of 64 bits move as they are, which takes the
//! feature `shaderSubgroupExtendedTypes`; a Vulkan 1.3 device has it, and
//! broadcasts from a lane that is not constant.

use super::{
    Setting,
    thread_ids::this_lane,
    types::{self, case},
};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, Value, ValueExt},
    ops::{ShuffleMode, simt},
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

pub(super) fn shuffle<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let shuffle = simt::Shuffle::cast(op);
    let name = match shuffle.mode() {
        ShuffleMode::Idx => "Shuffle",
        ShuffleMode::Up => "ShuffleUp",
        ShuffleMode::Down => "ShuffleDown",
        ShuffleMode::Xor => "ShuffleXor",
    };
    let (value, lane) = (b.v(shuffle.value()), b.v(shuffle.lane()));
    let moved = of_subgroup(name, value, lane);
    // Undefined is what there is where there is no such lane.
    let is_there = match shuffle.mode() {
        ShuffleMode::Up if !shuffle.in_range() => lane.le(this_lane(b, op)),
        ShuffleMode::Down if !shuffle.in_range() => lane.lt(-this_lane(b, op) + setting.wave),
        _ => return Ok(vec![moved.value()]),
    };
    Ok(vec![is_there.select(moved, value).value()])
}

/// A lane that is not constant is dynamically uniform, as SPIR-V requires; the
/// dialect's broadcast requires it, and a shuffle does not.
pub(super) fn broadcast<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let broadcast = simt::Broadcast::cast(op);
    let value = b.v(broadcast.value());
    let result = match broadcast.lane().constant_int() {
        Some(lane) => from_lane(value, lane as i32),
        None => of_subgroup("Shuffle", value, b.v(broadcast.lane())),
    };
    Ok(vec![result.value()])
}

pub(super) fn broadcast_first<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let value = b.v(simt::BroadcastFirst::cast(op).value());
    Ok(vec![from_lane(value, 0).value()])
}

fn from_lane<'b, 'c>(value: V<'b, 'c>, lane: i32) -> V<'b, 'c> {
    of_subgroup("Broadcast", value, types::constant(value.builder(), lane))
}
