//! Which thread, lane and block this is, from special registers.

use super::WARP;
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, Value},
};

fn register<'b, 'c>(b: &'b Builder<'c>, name: &str) -> V<'b, 'c> {
    let name = format!("nvvm.read.ptx.sreg.{name}");
    b.result(&name, &[], b.int_type(32), &[])
}

/// The register as `index`: none is negative.
fn index<'c>(b: &Builder<'c>, name: &str) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![register(b, name).to_index().value()])
}

pub(super) fn thread_id<'c>(b: &Builder<'c>, _: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    index(b, "tid.x")
}

pub(super) fn block_id<'c>(b: &Builder<'c>, _: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    index(b, "ctaid.x")
}

pub(super) fn block_dim<'c>(b: &Builder<'c>, _: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    index(b, "ntid.x")
}

pub(super) fn grid_dim<'c>(b: &Builder<'c>, _: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    index(b, "nctaid.x")
}

/// A block has one dimension, so warps are made of neighbouring threads: the
/// lane is the thread's low bits, which costs less than reading a register and
/// lets LLVM see how the two hang together.
fn lane<'b, 'c>(b: &'b Builder<'c>) -> V<'b, 'c> {
    register(b, "tid.x") & (WARP - 1)
}

pub(super) fn lane_id<'c>(b: &Builder<'c>, _: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![lane(b).value()])
}

pub(super) fn subgroup_id<'c>(b: &Builder<'c>, _: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let log2 = i64::from(WARP.trailing_zeros());
    Ok(vec![(register(b, "tid.x") >> log2).value()])
}

pub(super) fn num_subgroups<'c>(b: &Builder<'c>, _: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    let log2 = i64::from(WARP.trailing_zeros());
    Ok(vec![(register(b, "ntid.x") >> log2).value()])
}

pub(super) fn elect<'c>(b: &Builder<'c>, _: Op<'c>) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![lane(b).eq(0).value()])
}
