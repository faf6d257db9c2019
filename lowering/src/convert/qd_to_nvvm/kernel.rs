//! The kernel around a body: what it takes, and how many of its blocks there are
//! to be at a time.
//!
//! Every parameter is 8 bytes, in the order of the body's arguments, exactly as
//! the words that the cpu target's bodies are given:
//! - a buffer is a pointer to global memory and, unless its rank is 0, an `i64`,
//!   its leading extent;
//! - a scalar is an `i64` whose low bits are the scalar's.

use super::shared;
use crate::{convert::descriptor, targets::Target};
use melior::ir::{
    Attribute, Location, RegionLike, Type, ValueLike,
    attribute::{ArrayAttribute, DenseI32ArrayAttribute, TypeAttribute},
    operation::OperationLike,
};
use qd_dialects::{
    argument_attributes, attributes,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{
        self, InsertionPoint, Key, Op, OpExt, Value, ValueExt, arguments, context_of, operations,
    },
    melior,
};
use qd_passes::{
    mark_noalias::NOALIAS, outline_phases::BLOCKS_PER_CORE, plan::access::BodyEffects,
};
use std::collections::HashSet;

/// LLVM's number of the global address space.
const GLOBAL: u32 = 1;

/// Threads that a multiprocessor should have room for where blocks wait at
/// barriers: others work meanwhile. It leaves each 80 registers; without a limit
/// `ptxas` spends more on the order of instructions than that gains. Larger
/// blocks are limited by their size, and fewer of them at least would only allow
/// more.
const BUSY_THREADS: i32 = 768;

const SHARED_ARRAY: &str = "qd.simt.block.shared";

/// Makes a kernel of an outlined body, which goes. Ops in it stay as they are,
/// but for shared arrays.
pub(super) fn convert<'c>(body: Op<'c>, target: &Target) -> Result<'c, Op<'c>> {
    let name = body
        .attr("sym_name")
        .and_then(attributes::text)
        .unwrap_or_default();
    if !is_ptx_identifier(&name) {
        return Err(Diagnostic::at(
            body,
            format!(
                "is named '{name}', which target '{}' cannot spell: \
                 letters, digits, '_' and '$' can be",
                target.capabilities.name
            ),
        ));
    }
    let Some(old) = body.body() else {
        return Err(Diagnostic::at(body, "has no body"));
    };
    let parameters = arguments(old);
    let kernel = function(body, &name, &parameters);
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
    let blocks = blocks_per_core(body, kernel);
    if blocks > 1 {
        kernel.set_attr("nvvm.minctasm", attributes::i32(b.context(), blocks));
    }
    shared::convert(&b, kernel, &name, target)?;
    // Last, for what is left of it is only a return.
    body.erase();
    Ok(kernel)
}

/// An empty `llvm.func` before the body it replaces.
fn function<'c>(body: Op<'c>, name: &str, parameters: &[Value<'c>]) -> Op<'c> {
    let context = context_of(body);
    let location: Location<'c> = body.location();
    let parse = |text: &str| Attribute::parse(context, text).expect("an attribute");
    let (pointer, word) = (
        Type::parse(context, &format!("!llvm.ptr<{GLOBAL}>")).expect("the llvm dialect"),
        Builder::before(body).int_type(64),
    );
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
    let dimensions = [threads(body), 1, 1];
    let region = melior::ir::Region::new();
    region.append_block(ir::new_block(&types, location));
    InsertionPoint::Before(body).insert(ir::build(
        "llvm.func",
        location,
        &[],
        &[],
        &[
            ("sym_name", attributes::string(context, name)),
            (
                "function_type",
                TypeAttribute::new(Type::parse(context, &signature).expect("the llvm dialect"))
                    .into(),
            ),
            ("linkage", parse("#llvm.linkage<external>")),
            (
                "arg_attrs",
                ArrayAttribute::new(context, &parameter_attributes).into(),
            ),
            ("nvvm.kernel", attributes::unit(context)),
            (
                "nvvm.reqntid",
                DenseI32ArrayAttribute::new(context, &dimensions).into(),
            ),
        ],
        vec![region],
    ))
}

/// The buffers through which no thread learns what another has done. To LLVM
/// `noalias` says that nobody else writes: it keeps values over barriers, reads
/// through the cache that is not coherent, and its instruction selection even
/// crashes on an atomic load of such memory. So it may be said of what is never
/// written, and of what is written by a body that orders nothing.
fn unshared<'c>(body: Op<'c>, parameters: &[Value<'c>]) -> HashSet<Key> {
    let Some(block) = body.body() else {
        return HashSet::new();
    };
    let effects = BodyEffects::of(block, parameters);
    let ordered = body.nested().into_iter().any(is_ordered);
    let polled = polled(body, parameters);
    let keys = parameters
        .iter()
        .filter(|parameter| !ordered || !effects.on(**parameter).writes)
        .map(|parameter| parameter.key());
    keys.filter(|key| !polled.contains(key)).collect()
}

/// Whether an op orders memory between threads, or may.
fn is_ordered(op: Op<'_>) -> bool {
    let name = op.full_name();
    matches!(
        name,
        "qd.simt.sync"
            | "qd.simt.mem_fence"
            | "qd.simt.block.sync"
            | "qd.simt.block.mem_fence"
            | "qd.grid.mem_fence"
            | "func.call"
    ) || name.starts_with("qd.grid.atomic.")
}

/// How many of a body's blocks a multiprocessor is to have room for: as the body has
/// it, or else what keeps it busy while blocks wait at barriers.
fn blocks_per_core(body: Op<'_>, kernel: Op<'_>) -> i32 {
    let said = body.attr(BLOCKS_PER_CORE).and_then(attributes::int);
    let said = said.and_then(|blocks| blocks.try_into().ok());
    let has_shared_arrays = kernel.nested().iter().any(|op| op.is(SHARED_ARRAY));
    said.unwrap_or(match has_shared_arrays {
        true => BUSY_THREADS / threads(body).max(1),
        false => 0,
    })
}

/// Threads of a body's blocks.
fn threads(body: Op<'_>) -> i32 {
    let threads = body.attr("qd.threads").and_then(attributes::int);
    threads
        .and_then(|threads| threads.try_into().ok())
        .unwrap_or_default()
}

/// The buffers that are read by atomic loads; all, if it is not clear which one
/// is.
fn polled<'c>(body: Op<'c>, parameters: &[Value<'c>]) -> HashSet<Key> {
    let mut polled = HashSet::new();
    for load in body.nested() {
        if !load.is("qd.grid.atomic.load") {
            continue;
        }
        let mut memref = load.operand_values()[0];
        while let Some(view) = memref.defining_op() {
            match view.operand_values().first() {
                Some(source) if descriptor::shape(source.r#type()).is_some() => memref = *source,
                _ => break,
            }
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
    b.result("llvm.addrspacecast", &[pointer], r#type, &[])
}

/// What a symbol may be called in PTX.
fn is_ptx_identifier(name: &str) -> bool {
    let mut rest = name.chars();
    let letter = |c: char| c.is_ascii_alphabetic();
    let follows = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    match rest.next() {
        Some(c) if letter(c) => rest.all(follows),
        // These need something behind them.
        Some('_' | '$') => name.len() > 1 && rest.all(follows),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_ptx_identifier;

    #[test]
    fn names_that_ptx_can_spell() {
        for name in ["a", "sum_reduce_0", "_x", "$1", "K9"] {
            assert!(is_ptx_identifier(name), "{name}");
        }
        for name in ["", "_", "9a", "a.b", "a b", "größe"] {
            assert!(!is_ptx_identifier(name), "{name}");
        }
    }
}
