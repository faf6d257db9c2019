//! Sites: ops of bodies that write into memory of the device what the runtime reads for people.
//!
//! A site is known by its place among those of its body, and by a number that the launch passes.
//! Texts and locations are in the op that gives the launch its memory, not in the body, so that bodies
//! that differ in these alone have the same code.

use crate::{
    select_subgroup_size::bodies,
    share_bodies::{launches_by_body, relaunch, sign},
};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, bit_width, context_of},
    melior::ir::{
        Attribute, Identifier, Type,
        attribute::{ArrayAttribute, DictionaryAttribute},
    },
    report,
};

/// Memory of the device for one kind of site.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// The op that gives it to a launch.
    pub maker: &'static str,
    /// Its words, of 32 bits each.
    pub words: usize,
}

/// Expands the ops of a name in all bodies. `expand` is given those of a body, the memory and the number of the body's
/// first site, and returns what is known of each site ([`describe`]). A body without such ops stays as it is.
///
/// # Errors
///
/// There is one in a phase that is not outlined.
pub(crate) fn of_bodies<'c>(
    module: Op<'c>,
    name: &str,
    memory: Memory,
    expand: impl Fn(&[Op<'c>], Value<'c>, Value<'c>) -> Vec<Attribute<'c>>,
) -> Result<'c> {
    let all: Vec<_> = bodies(module)
        .into_iter()
        .map(|(body, _)| {
            let mut ops = body.nested();
            ops.retain(|op| op.is(name));
            (body, ops)
        })
        .filter(|(_, ops)| !ops.is_empty())
        .collect();
    // Most modules have none.
    if all.is_empty() {
        return Ok(());
    }
    let launches = launches_by_body(module);
    for (body, ops) in all {
        if !body.is("func.func") {
            let message = "is in a phase, which is to be outlined first: run qd-outline-phases";
            return Err(Diagnostic::at(ops[0], message));
        }
        let Some(entry) = body.body() else { continue };
        let name = body.attr("sym_name").and_then(attributes::text);
        let name = name.unwrap_or_default();
        let context = context_of(body);
        let words = Type::parse(context, &format!("memref<{}xi32>", memory.words));
        let types = [words.expect("a buffer"), Builder::before(body).int_type(32)];
        let [given, first] = types.map(|r#type| entry.add_argument(r#type, body.location()));
        sign(body);
        let sites = ArrayAttribute::new(context, &expand(&ops, given, first)).into();
        for launch in launches.get(&name).map_or(&[][..], Vec::as_slice) {
            let b = Builder::before(*launch);
            let made = b.op(memory.maker, &[], &types, &[("sites", sites)]);
            let mut operands = launch.operand_values();
            operands.extend(made.result_values());
            relaunch(*launch, &name, &operands);
        }
    }
    Ok(())
}

/// What is known of a site when it is compiled: its text, where it is, and something more.
pub(crate) fn describe<'c>(
    op: Op<'c>,
    text: String,
    more: Option<(&str, String)>,
) -> Attribute<'c> {
    let context = context_of(op);
    let at = match report::span_of(op.location()) {
        Some(span) => format!("{}:{}:{}", span.file, span.line, span.column),
        None => "an unknown place".into(),
    };
    let named = [("at", at), ("text", text)].into_iter().chain(more);
    let named = named.map(|(name, text)| {
        let name = Identifier::new(context, name);
        (name, attributes::string(context, &text))
    });
    DictionaryAttribute::new(context, &named.collect::<Vec<_>>()).into()
}

/// A number as two words, the low one first.
pub(crate) fn words<'b, 'c>(value: V<'b, 'c>, is_signed: bool) -> (V<'b, 'c>, V<'b, 'c>) {
    let b = value.builder();
    let word = b.int_type(32);
    let is_index = value.ty() == b.index_type();
    if !is_index && bit_width(value.ty()) <= 32 {
        // So that a device without integers of 64 bits will do.
        let low = match (is_signed, bit_width(value.ty())) {
            (true, 2..32) => b.result("arith.extsi", &[value], word, &[]),
            _ => value.cast(word),
        };
        let high = match is_signed {
            true => low.shr_signed(31),
            false => b.i32(0),
        };
        return (low, high);
    }
    if is_index {
        // It may be of 32 bits, and is not shifted by as many at once.
        let half = |value: V<'b, 'c>| match is_signed {
            true => value.shr_signed(16),
            false => value >> 16,
        };
        return (value.cast(word), half(half(value)).cast(word));
    }
    let wide = match bit_width(value.ty()) {
        64 => value,
        _ if is_signed => b.result("arith.extsi", &[value], b.int_type(64), &[]),
        _ => value.to_i64(),
    };
    (wide.cast(word), (wide >> 32).cast(word))
}
