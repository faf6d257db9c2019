//! The entry point of a body: its kernel arguments, and its blocks' shared memory.
//!
//! `docs/rationale/vulkan.md` documents the kernel arguments. They are read as a
//! structure whose members have the arguments' own types, so that no address is
//! a number, but for that of an atomic on 8 or 16 bits: SPIR-V has pointers to
//! structures in memory, from which drivers can derive more.

use super::{
    atomics,
    memory::{self, Place},
    types::{self, Storage},
};
use crate::{
    convert::{descriptor, shared},
    targets::Target,
};
use melior::ir::{RegionLike, Type, ValueLike, attribute::TypeAttribute, r#type::FunctionType};
use qd_dialects::{
    attributes::{self, names},
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{self, InsertionPoint, Key, Op, OpExt, ValueExt, arguments, context_of, operations},
    melior,
    ops::simt,
};
use std::collections::HashMap;

/// The member that holds the number of blocks.
const BLOCKS: i32 = 0;

/// Makes an entry point of an outlined body, which goes.
pub(super) fn convert<'c>(body: Op<'c>, target: &Target, index_bits: u32) -> Result<'c, Op<'c>> {
    let name = body
        .attr("sym_name")
        .and_then(attributes::text)
        .unwrap_or_default();
    let Some(old) = body.body() else {
        return Err(Diagnostic::at(body, "has no body"));
    };
    let parameters = arguments(old);
    let function = function(body, &name);
    let entry = function.body().expect("just made");
    let at = InsertionPoint::End(entry);
    let b = &Builder::new(context_of(body), body.location(), at);

    let words = Words::of(b, body, &parameters, index_bits)?;
    let pointer = words.pointer(b, function, &name);
    let mut places = HashMap::new();
    let mut next = BLOCKS + 1;
    for parameter in parameters {
        let r#type = parameter.r#type();
        let buffer = descriptor::is_buffer(r#type);
        let first = next;
        next += if buffer == Some(true) { 2 } else { 1 };
        if parameter.uses().is_empty() {
            continue;
        }
        let value = words.load(b, pointer, first);
        match buffer {
            Some(has_length) => {
                let length = has_length.then(|| words.load(b, pointer, first + 1).to_index());
                let place = Place::whole(b, value, Storage::Device, r#type, length);
                places.insert(parameter.key(), place);
            }
            None => parameter.replace_all_uses(scalar(value, r#type).value()),
        }
    }
    for op in operations(old) {
        match op.is("func.return") {
            true => drop(b.op("func.return", &[], &[], &[])),
            false => op.move_to(at),
        }
    }
    shared_arrays(function, &name, target, &mut places)?;
    for op in function.nested() {
        if op.is(simt::GridDim::NAME) {
            let b = &Builder::before(op);
            op.replace_with(&[words.load(b, pointer, BLOCKS).to_index().value()]);
        }
    }
    memory::convert(function, places)?;
    // Last, for its arguments were the keys to what is known of them.
    body.erase();
    Ok(function)
}

/// An empty function before the body it replaces.
fn function<'c>(body: Op<'c>, name: &str) -> Op<'c> {
    let context = context_of(body);
    let region = melior::ir::Region::new();
    region.append_block(ir::new_block(&[], body.location()));
    let r#type = FunctionType::new(context, &[], &[]);
    let mut attributes = vec![
        ("sym_name", attributes::string(context, name)),
        ("function_type", TypeAttribute::new(r#type.into()).into()),
    ];
    attributes.extend(body.attr(names::THREADS).map(|n| (names::THREADS, n)));
    InsertionPoint::Before(body).insert(ir::build(
        "func.func",
        body.location(),
        &[],
        &[],
        &attributes,
        vec![region],
    ))
}

/// The kernel arguments, as the members of a structure.
struct Words<'c> {
    members: Vec<Type<'c>>,
    /// In bytes from the structure's start.
    offsets: Vec<u32>,
}

impl<'c> Words<'c> {
    fn of(
        b: &Builder<'c>,
        body: Op<'c>,
        parameters: &[ir::Value<'c>],
        index_bits: u32,
    ) -> Result<'c, Self> {
        let mut words = Self {
            members: Vec::new(),
            offsets: Vec::new(),
        };
        words.push(b.int_type(32));
        for parameter in parameters {
            let r#type = parameter.r#type();
            match descriptor::is_buffer(r#type) {
                Some(has_length) => {
                    let element = ir::element_type(r#type).expect("a memref");
                    if descriptor::stored(b, element).is_none() {
                        return Err(Diagnostic::at(
                            body,
                            format!("takes a {type}, whose elements have no known size"),
                        ));
                    }
                    let buffer = types::buffer(memory::stored(b, r#type, Storage::Device));
                    words.push(types::pointer(b, &buffer, Storage::Device));
                    if has_length {
                        words.push(b.int_type(index_bits));
                    }
                }
                None => words.push(word(b, r#type, index_bits)),
            }
        }
        Ok(words)
    }

    /// Each member begins where its word does.
    fn push(&mut self, member: Type<'c>) {
        self.offsets.push(8 * self.members.len() as u32);
        self.members.push(member);
    }

    /// The pointer to the kernel arguments, which is the push constant.
    fn pointer<'b>(&self, b: &'b Builder<'c>, function: Op<'c>, name: &str) -> V<'b, 'c> {
        let members: Vec<_> = self
            .members
            .iter()
            .zip(&self.offsets)
            .map(|(member, offset)| format!("{member} [{offset}]"))
            .collect();
        let words = format!("!spirv.struct<({})>", members.join(", "));
        let words = types::pointer(b, &words, Storage::Device);
        let pushed = types::parse(
            b,
            &format!("!spirv.ptr<!spirv.struct<({words} [0])>, PushConstant>"),
        );
        let variable = format!("__qd_words_{name}");
        let base = global(b, function, &variable, pushed);
        let to_words = types::parse(b, &format!("!spirv.ptr<{words}, PushConstant>"));
        let pointer = types::access(b, base, &[types::constant(b, 0)], to_words);
        b.result("spirv.Load", &[pointer], words, &[])
    }

    fn load<'b>(&self, b: &'b Builder<'c>, words: V<'b, 'c>, member: i32) -> V<'b, 'c> {
        let r#type = self.members[member as usize];
        let pointer = types::pointer(b, &r#type.to_string(), Storage::Device);
        let pointer = types::access(b, words, &[types::constant(b, member)], pointer);
        // They are constant while the launch runs.
        let bytes = ir::bit_width(r#type) / 8;
        let attributes = [
            (
                "memory_access",
                types::attribute(b, "#spirv.memory_access<Aligned>"),
            ),
            ("alignment", attributes::i32(b.context(), bytes as i32)),
        ];
        b.result("spirv.Load", &[pointer], r#type, &attributes)
    }
}

/// What a scalar is read as: the low bits of its word, which has no fewer than 32.
fn word<'c>(b: &Builder<'c>, scalar: Type<'c>, index_bits: u32) -> Type<'c> {
    if descriptor::same(scalar, b.index_type()) {
        return b.int_type(index_bits);
    }
    match ir::bit_width(scalar) {
        0..32 => b.int_type(32),
        _ => scalar,
    }
}

fn scalar<'b, 'c>(word: V<'b, 'c>, r#type: Type<'c>) -> V<'b, 'c> {
    match word.is_float() {
        true => word,
        false => descriptor::scalar_from_word(word, r#type),
    }
}

/// A variable of the module, and its address.
pub(super) fn global<'b, 'c>(
    b: &'b Builder<'c>,
    before: Op<'c>,
    name: &str,
    pointer: Type<'c>,
) -> V<'b, 'c> {
    InsertionPoint::Before(before).insert(ir::build(
        "spirv.GlobalVariable",
        b.location(),
        &[],
        &[],
        &[
            ("sym_name", attributes::string(b.context(), name)),
            ("type", TypeAttribute::new(pointer).into()),
        ],
        Vec::new(),
    ));
    address(b, name, pointer)
}

/// The address of a variable of the module.
pub(super) fn address<'b, 'c>(b: &'b Builder<'c>, name: &str, pointer: Type<'c>) -> V<'b, 'c> {
    b.result(
        "spirv.mlir.addressof",
        &[],
        pointer,
        &[("variable", attributes::symbol(b.context(), name))],
    )
}

/// Each shared array as a variable of the module.
fn shared_arrays<'c>(
    function: Op<'c>,
    name: &str,
    target: &Target,
    places: &mut HashMap<Key, Place<'c>>,
) -> Result<'c> {
    let b = &Builder::before(function);
    let has_narrow_atomics = function.nested().into_iter().any(atomics::is_narrow_shared);
    let storage = match has_narrow_atomics {
        true => Storage::Words,
        false => Storage::Workgroup,
    };
    let mut bytes = 0;
    for (i, array) in shared::arrays(b, function, &target.capabilities)?
        .into_iter()
        .enumerate()
    {
        let memref = array.op.first_result();
        let b = &Builder::before(array.op);
        let stored = memory::stored(b, memref.r#type(), storage);
        bytes += array.count * u64::from(ir::bit_width(stored) / 8);
        let limit = target.capabilities.max_shared_bytes;
        if bytes > limit.into() {
            let message = format!(
                "makes the block's shared memory {bytes} bytes, as elements with atomics take 4, but target '{}' has {limit}",
                target.capabilities.name
            );
            return Err(Diagnostic::at(array.op, message));
        }
        let text = format!("!spirv.array<{} x {stored}>", array.count.max(1));
        let pointer = types::pointer(b, &text, storage);
        let variable = format!("__qd_shared_{name}_{i}");
        let address = global(b, function, &variable, pointer);
        let place = Place::whole(b, address, storage, memref.r#type(), None);
        places.insert(memref.key(), place);
    }
    Ok(())
}
