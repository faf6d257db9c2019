//! Thread, lane and block ids, from built-in variables.
//!
//! A module declares each variable once, by name; each use is a load, and the driver merges
//! them.

use super::{Setting, kernel::address, types::parse};
use melior::ir::{Type, attribute::TypeAttribute};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::Result,
    ir::{self, InsertionPoint, Op, OpExt, Value},
    melior,
};

/// Workgroups in a dimension, of which every device has this many.
pub(super) const ROW: i64 = 65_535;

/// A built-in input of one word.
fn word<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, name: &str) -> V<'b, 'c> {
    load(b, op, name, b.int_type(32))
}

/// The value of a built-in input.
fn load<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, name: &str, r#type: Type<'c>) -> V<'b, 'c> {
    let symbol = format!("__qd_{name}");
    let pointer = parse(b, &format!("!spirv.ptr<{type}, Input>"));
    declare(b, op, name, &symbol, pointer);
    b.result("spirv.Load", &[address(b, &symbol, pointer)], r#type, &[])
}

/// Declares a built-in variable at the top of the module around an op, unless it
/// is there.
fn declare<'c>(b: &Builder<'c>, op: Op<'c>, name: &str, symbol: &str, pointer: Type<'c>) {
    let mut module = op;
    while let Some(around) = module.parent().filter(|_| !module.is("builtin.module")) {
        module = around;
    }
    let block = module.body().expect("a module's body");
    // They are the first ops of the module.
    let mut next = block.first_operation();
    let at = match next {
        Some(first) => InsertionPoint::Before(first),
        None => InsertionPoint::End(block),
    };
    while let Some(known) = next.filter(|op| op.is("spirv.GlobalVariable")) {
        let name = known.attr("sym_name").and_then(attributes::text);
        if name.is_some_and(|known| known == symbol) {
            return;
        }
        next = known.next_in_block();
    }
    at.insert(ir::build(
        "spirv.GlobalVariable",
        b.location(),
        &[],
        &[],
        &[
            ("sym_name", attributes::string(b.context(), symbol)),
            ("type", TypeAttribute::new(pointer).into()),
            ("built_in", attributes::string(b.context(), name)),
        ],
        Vec::new(),
    ));
}

/// This lane's number.
pub(super) fn this_lane<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> V<'b, 'c> {
    word(b, op, "SubgroupLocalInvocationId")
}

fn subgroup<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> V<'b, 'c> {
    word(b, op, "SubgroupId")
}

fn subgroups<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> V<'b, 'c> {
    word(b, op, "NumSubgroups")
}

pub(super) fn lane_id<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![this_lane(b, op).value()])
}

pub(super) fn subgroup_id<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![subgroup(b, op).value()])
}

/// A constant where the block's size is known, which `qd-select-subgroup-size` has seen to.
pub(super) fn num_subgroups<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![subgroups(b, op).value()])
}

/// Subgroups are full.
pub(super) fn block_dim<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![(subgroups(b, op) * setting.wave).to_index().value()])
}

/// By definition, and not `LocalInvocationId`: SPIR-V does not say which threads
/// make a subgroup.
pub(super) fn thread_id<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let thread = subgroup(b, op) * setting.wave + this_lane(b, op);
    Ok(vec![thread.to_index().value()])
}

/// Rows of workgroups, for a dimension may have no more than a row's.
pub(super) fn block_id<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    let words = load(b, op, "WorkgroupId", parse(b, "vector<3xi32>"));
    let (x, y) = (extract(words, 0).to_index(), extract(words, 1).to_index());
    Ok(vec![(x + y * ROW).value()])
}

/// One word of a vector.
pub(super) fn extract<'b, 'c>(words: V<'b, 'c>, i: i32) -> V<'b, 'c> {
    let b = words.builder();
    let indices =
        melior::ir::attribute::ArrayAttribute::new(b.context(), &[attributes::i32(b.context(), i)]);
    b.result(
        "spirv.CompositeExtract",
        &[words],
        b.int_type(32),
        &[("indices", indices.into())],
    )
}
