//! The arrays that a kernel's blocks share.
//!
//! As far as there is room for what is declared statically, each is a variable of
//! the module: LLVM then knows that no two overlap. Where they take more, all of
//! them are parts of one external array, whose size is that of the launch: such
//! arrays all begin at the same address, so that there can be no second one.

use super::{Hooks, Setting, kernel::generic};
use crate::{
    convert::{
        descriptor,
        shared::{self, ALIGNMENT, SharedArray},
    },
    targets::Target,
};
use melior::ir::{Attribute, Type, ValueLike, attribute::TypeAttribute};
use qd_dialects::{
    attributes::{self, names},
    builder::{Builder, V},
    diagnostic::Result,
    interfaces::accessed,
    ir::{self, InsertionPoint, Op, OpExt, Value, arguments, context_of},
    melior, ops,
};

/// Bytes of shared memory that a launch of a body at the subgroup level has to ask for: what its arrays take, if
/// they are parts of the external one.
///
/// # Errors
///
/// They do not fit the target.
pub fn dynamic_shared_bytes<'c>(body: Op<'c>, target: &Target, hooks: &Hooks) -> Result<'c, u32> {
    let arrays = shared::arrays(&Builder::before(body), body, &target.capabilities)?;
    let bytes = taken(&arrays);
    Ok(match is_external(bytes, hooks) {
        true => bytes as u32,
        false => 0,
    })
}

/// What arrays take that lie one after another.
fn taken(arrays: &[SharedArray<'_>]) -> u64 {
    arrays.last().map_or(0, |array| array.end)
}

/// Whether arrays that take so many bytes are parts of an external one.
fn is_external(bytes: u64, hooks: &Hooks) -> bool {
    bytes > hooks.max_static_shared_bytes
}

/// Gives the arrays of a kernel of this name an address. They fit the target.
pub(super) fn convert<'c>(
    b: &Builder<'c>,
    kernel: Op<'c>,
    name: &str,
    setting: &Setting<'_>,
) -> Result<'c> {
    let space = setting.hooks.spaces.shared;
    let arrays = shared::arrays(b, kernel, &setting.target.capabilities)?;
    mark(kernel);
    let external = is_external(taken(&arrays), setting.hooks).then(|| {
        let variable = format!("__qd_shared_{name}");
        let r#type = "!llvm.array<0 x i8>";
        global(b, kernel, space, &variable, "external", r#type);
        variable
    });
    for (i, array) in arrays.into_iter().enumerate() {
        let op = array.op;
        let plain = descriptor::without_memory_space(b, op.first_result().r#type());
        let own = || {
            let variable = format!("__qd_shared_{name}_{i}");
            let r#type = format!("!llvm.array<{} x {}>", array.count, array.element);
            global(b, kernel, space, &variable, "internal", &r#type);
            variable
        };
        let variable = external.clone().unwrap_or_else(own);
        let pointer = b.at(InsertionPoint::Before(op), || {
            let begin = address(b, space, &variable);
            let part = match external {
                Some(_) => {
                    let offset = b.i64(array.offset as i64);
                    descriptor::offset_pointer(b, begin, offset, b.int_type(8))
                }
                None => begin,
            };
            descriptor::memref_from_pointer(b, generic(b, part), None, plain)
        });
        op.replace_with(&[pointer.value()]);
    }
    strip_memory_spaces(b, kernel);
    Ok(())
}

/// A variable's.
fn address<'b, 'c>(b: &'b Builder<'c>, space: u32, variable: &str) -> V<'b, 'c> {
    b.result(
        "llvm.mlir.addressof",
        &[],
        descriptor::pointer_in(b, space),
        &[("global_name", attributes::symbol(b.context(), variable))],
    )
}

/// Says it of atomics on shared arrays, while these are known by their types.
fn mark(kernel: Op<'_>) {
    let is_ours = |op: &Op<'_>| op.full_name().starts_with(ops::PREFIX);
    for op in kernel.nested().into_iter().filter(is_ours) {
        let memory = accessed(op).map(|at| op.operand_values()[at].r#type());
        if memory.is_some_and(descriptor::is_shared) {
            op.set_attr(names::ON_SHARED, Attribute::unit(context_of(op)));
        }
    }
}

/// Descriptors hold generic pointers: types follow from shared arrays on.
fn strip_memory_spaces<'c>(b: &Builder<'c>, kernel: Op<'c>) {
    let strip = |value: Value<'c>| {
        if descriptor::shape(value.r#type()).is_some() {
            value.set_type(descriptor::without_memory_space(b, value.r#type()));
        }
    };
    for op in kernel.nested() {
        op.result_values().into_iter().for_each(strip);
        for region in 0..op.region_count() {
            let mut block = op.region_block(region);
            while let Some(current) = block {
                arguments(current).into_iter().for_each(strip);
                block = current.next_in_region();
            }
        }
    }
}

/// Declares a variable in shared memory before the kernel.
fn global<'c>(
    b: &Builder<'c>,
    kernel: Op<'c>,
    space: u32,
    name: &str,
    linkage: &str,
    r#type: &str,
) {
    let context = b.context();
    let r#type = Type::parse(context, r#type).expect("an array of scalars");
    let linkage = format!("#llvm.linkage<{linkage}>");
    let linkage = Attribute::parse(context, &linkage).expect("the llvm dialect");
    let region = melior::ir::Region::new();
    InsertionPoint::Before(kernel).insert(ir::build(
        "llvm.mlir.global",
        b.location(),
        &[],
        &[],
        &[
            ("sym_name", attributes::string(context, name)),
            ("global_type", TypeAttribute::new(r#type).into()),
            ("linkage", linkage),
            ("addr_space", attributes::i32(context, space as i32)),
            ("alignment", attributes::i64(context, ALIGNMENT as i64)),
        ],
        vec![region],
    ));
}
