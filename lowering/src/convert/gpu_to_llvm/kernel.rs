//! The kernel function of a body, and its parameters.
//!
//! Every parameter is 8 bytes, in the order of the body's arguments, the same
//! words that the bodies of target `cpu` are given:
//! - a buffer is a pointer to global memory and, unless its rank is 0, an `i64`,
//!   its leading extent;
//! - a scalar is an `i64` whose low bits are the scalar's.

use super::{Launch, Setting, shared};
use crate::convert::descriptor;
use melior::ir::{
    Attribute, Location, RegionLike, Type, ValueLike,
    attribute::{ArrayAttribute, TypeAttribute},
};
use qd_dialects::{
    argument_attributes, attributes,
    attributes::names,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    interfaces::{orders_memory, view_source},
    ir::{
        self, InsertionPoint, Key, Op, OpExt, Value, ValueExt, arguments, context_of, operations,
    },
    melior,
    ops::{grid, simt},
};
use qd_passes::{mark_noalias::NOALIAS, plan::access::BodyEffects};
use std::collections::HashSet;

const SHARED_ARRAY: &str = simt::BlockShared::NAME;

/// Makes a kernel of an outlined body, which goes. Ops in it stay as they are,
/// but for shared arrays.
pub(super) fn convert<'c>(body: Op<'c>, setting: &Setting<'_>) -> Result<'c, Op<'c>> {
    let name = body
        .attr("sym_name")
        .and_then(attributes::text)
        .unwrap_or_default();
    if let Some(because) = (setting.hooks.refuses_name)(&name) {
        let target = &setting.target.capabilities.name;
        return Err(Diagnostic::at(
            body,
            format!("is named '{name}', which target '{target}' cannot spell: {because}"),
        ));
    }
    let Some(old) = body.body() else {
        return Err(Diagnostic::at(body, "has no body"));
    };
    let parameters = arguments(old);
    let kernel = function(body, &name, &parameters, setting);
    let entry = kernel.body().expect("just made");

    let at = InsertionPoint::End(entry);
    let b = Builder::new(context_of(body), body.location(), at);
    let given = b.vs(&arguments(entry));
    let mut next = given.into_iter();
    let mut take = || next.next().expect("a parameter for each argument");
    for argument in parameters {
        let r#type = argument.r#type();
        let value = match descriptor::is_buffer(r#type) {
            Some(has_length) => {
                let pointer = generic(&b, take());
                let length = has_length.then(&mut take);
                descriptor::memref_from_pointer(&b, pointer, length, r#type)
            }
            None => descriptor::scalar_from_word(take(), r#type),
        };
        argument.replace_all_uses(value.value());
    }
    for op in operations(old) {
        if !op.is("func.return") {
            op.move_to(at);
        }
    }
    b.op("llvm.return", &[], &[], &[]);
    shared::convert(&b, kernel, &name, setting)?;
    // Last, for what is left of it is only a return.
    body.erase();
    Ok(kernel)
}

/// An empty `llvm.func` before the body it replaces.
fn function<'c>(
    body: Op<'c>,
    name: &str,
    parameters: &[Value<'c>],
    setting: &Setting<'_>,
) -> Op<'c> {
    let context = context_of(body);
    let location: Location<'c> = body.location();
    let parse = |text: &str| Attribute::parse(context, text).expect("an attribute");
    let b = Builder::before(body);
    let pointer = descriptor::pointer_in(&b, setting.hooks.spaces.global);
    let word = b.int_type(64);
    let plain = parse("{llvm.noundef}");
    let unshared = unshared(body, parameters);
    let (mut types, mut parameter_attributes) = (Vec::new(), Vec::new());
    for (i, parameter) in parameters.iter().enumerate() {
        match descriptor::is_buffer(parameter.r#type()) {
            Some(has_length) => {
                types.push(pointer);
                parameter_attributes.push(
                    match argument_attributes::has(body, i, NOALIAS)
                        && unshared.contains(&parameter.key())
                    {
                        true => parse("{llvm.noalias, llvm.noundef}"),
                        false => plain,
                    },
                );
                if has_length {
                    types.push(word);
                    parameter_attributes.push(plain);
                }
            }
            None => {
                types.push(word);
                parameter_attributes.push(plain);
            }
        }
    }
    let signature: Vec<_> = types.iter().map(ToString::to_string).collect();
    let signature = format!("!llvm.func<void ({})>", signature.join(", "));
    let signature = Type::parse(context, &signature).expect("the llvm dialect");
    let mut all = vec![
        ("sym_name", attributes::string(context, name)),
        ("function_type", TypeAttribute::new(signature).into()),
        ("linkage", parse("#llvm.linkage<external>")),
        (
            "arg_attrs",
            ArrayAttribute::new(context, &parameter_attributes).into(),
        ),
    ];
    all.extend((setting.hooks.kernel_attributes)(
        context,
        &launch(body),
        setting,
    ));
    let region = melior::ir::Region::new();
    region.append_block(ir::new_block(&types, location));
    InsertionPoint::Before(body).insert(ir::build(
        "llvm.func",
        location,
        &[],
        &[],
        &all,
        vec![region],
    ))
}

/// The buffers through which threads do not communicate, which may be `noalias`.
/// LLVM takes that for memory that no other thread writes: it keeps values over
/// barriers, reads through the non-coherent cache, and its instruction selection
/// crashes on an atomic load of such memory. So these are the buffers that the body
/// never writes, and, in a body that orders no memory, all others too.
fn unshared<'c>(body: Op<'c>, parameters: &[Value<'c>]) -> HashSet<Key> {
    let Some(block) = body.body() else {
        return HashSet::new();
    };
    let effects = BodyEffects::of(block, parameters);
    let ordered = body
        .nested()
        .into_iter()
        .any(|op| op.is("func.call") || orders_memory(op));
    let polled = polled(body, parameters);
    let keys = parameters
        .iter()
        .filter(|parameter| !ordered || !effects.on(**parameter).writes)
        .map(|parameter| parameter.key());
    keys.filter(|key| !polled.contains(key)).collect()
}

/// What is known of a body's launches.
fn launch(body: Op<'_>) -> Launch {
    let number = |name| {
        let number = body.attr(name).and_then(attributes::int);
        number.and_then(|number| i32::try_from(number).ok())
    };
    Launch {
        threads: number(names::THREADS).unwrap_or_default(),
        blocks_per_core: number(names::BLOCKS_PER_CORE),
        has_shared_arrays: body.nested().iter().any(|op| op.is(SHARED_ARRAY)),
    }
}

/// The buffers that are read by atomic loads; all, if it is not clear which one
/// is.
fn polled<'c>(body: Op<'c>, parameters: &[Value<'c>]) -> HashSet<Key> {
    let mut polled = HashSet::new();
    for load in body.nested() {
        let Some(load) = grid::AtomicLoad::of(load) else {
            continue;
        };
        let mut memref = load.memref();
        while let Some(source) = memref.defining_op().and_then(view_source) {
            memref = source;
        }
        if parameters.iter().any(|p| p.key() == memref.key()) {
            polled.insert(memref.key());
        } else if !memref.defining_op().is_some_and(|op| op.is(SHARED_ARRAY)) {
            polled.extend(parameters.iter().map(|p| p.key()));
        }
    }
    polled
}

/// A pointer without its address space.
pub(super) fn generic<'b, 'c>(b: &'b Builder<'c>, pointer: V<'b, 'c>) -> V<'b, 'c> {
    let r#type = descriptor::pointer_type(b);
    if descriptor::same(pointer.ty(), r#type) {
        return pointer;
    }
    b.result("llvm.addrspacecast", &[pointer], r#type, &[])
}
