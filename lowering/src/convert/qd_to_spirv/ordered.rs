//! Barriers and fences.
//!
//! Vulkan's memory model has no sequential consistency: acquire and release of
//! everything, made available and visible, is the most there is. It orders what
//! is accessed as non-private, which all of memory is.

use super::{Setting, types::case};
use melior::ir::Attribute;
use qd_dialects::{
    builder::Builder,
    diagnostic::Result,
    ir::{Op, Value},
    melior,
};

/// The memory that an order applies to: buffers and shared arrays.
const EVERYTHING: &str = "UniformMemory|WorkgroupMemory";

/// The bits of an order, as ours are called.
pub(super) fn semantics<'c>(b: &Builder<'c>, order: &str) -> Attribute<'c> {
    let bits = match order {
        "relaxed" => "None".to_string(),
        "acquire" => format!("Acquire|{EVERYTHING}|MakeVisible"),
        "release" => format!("Release|{EVERYTHING}|MakeAvailable"),
        _ => format!("AcquireRelease|{EVERYTHING}|MakeAvailable|MakeVisible"),
    };
    case(b, "memory_semantics", &bits)
}

/// Everyone in a scope arrives, and sees what was written before.
fn barrier(b: &Builder<'_>, scope: &str) {
    let scope = case(b, "scope", scope);
    b.op(
        "spirv.ControlBarrier",
        &[],
        &[],
        &[
            ("execution_scope", scope),
            ("memory_scope", scope),
            ("memory_semantics", semantics(b, "acq_rel")),
        ],
    );
}

fn fence(b: &Builder<'_>, scope: &str) {
    b.op(
        "spirv.MemoryBarrier",
        &[],
        &[],
        &[
            ("memory_scope", case(b, "scope", scope)),
            ("memory_semantics", semantics(b, "acq_rel")),
        ],
    );
}

pub(super) fn subgroup_sync<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    barrier(b, "Subgroup");
    Ok(Vec::new())
}

pub(super) fn block_sync<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    barrier(b, "Workgroup");
    Ok(Vec::new())
}

pub(super) fn subgroup_fence<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    fence(b, "Subgroup");
    Ok(Vec::new())
}

pub(super) fn block_fence<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    fence(b, "Workgroup");
    Ok(Vec::new())
}

/// `Device`, which every device of Vulkan 1.3 has in its memory model.
pub(super) fn device_fence<'c>(
    b: &Builder<'c>,
    _: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    fence(b, "Device");
    Ok(Vec::new())
}
