//! `qd-expand-asserts`: an assertion that fails is noted in the device's fault record, and the
//! lane goes on.
//!
//! Runs on outlined bodies, right before they are named: all passes above see `cf.assert`, and no
//! conversion does. The first lane that claims the record writes it: the number of the site, the
//! block, the thread, and the operands of the comparison that the condition is, if it is one of
//! integers. The runtime reads it at the next synchronisation.
//!
//! A lane that left instead would be missing at the barriers and collectives behind. What the
//! assertion guards is executed, so it has to be defined without it, or stand in an `scf.if`.
//!
//! A site is known by its place among those of its body, and by a number that the launch passes.
//! Texts and locations are in the `qd.grid.faults` of the launch, not in the body, so that bodies
//! that differ in these alone have the same code. A body without assertions stays as it is.
//!
//! Errors: an assertion in a phase that is not outlined.
//!
//! Before:
//! ```mlir
//! func.func private @f(%i: index, %n: index) attributes {qd.threads = 256 : i64} {
//!   %inside = arith.cmpi ult, %i, %n : index
//!   cf.assert %inside, "inside"
//!   ...
//! }
//! qd.grid.launch 0 @f blocks(%g) args(%i, %n : index, index)
//! ```
//! After:
//! ```mlir
//! func.func private @f(%i: index, %n: index, %record: memref<16xi32>, %first: i32) attributes {...} {
//!   %inside = arith.cmpi ult, %i, %n : index
//!   scf.if (not %inside) {
//!     %before = qd.grid.atomic.cas 0, 1, %record[0] device relaxed
//!     scf.if (%before == 0) { %record[2 to 9] = %first + 0, block, thread, %i, %n; release %record[1] = 1 }
//!   }
//!   ...
//! }
//! %record, %first = qd.grid.faults [{at = "k.mlir:3:3", relation = "ult", text = "inside"}] : memref<16xi32>
//! qd.grid.launch 0 @f blocks(%g) args(%i, %n, %record, %first : index, index, memref<16xi32>, i32)
//! ```

use crate::{
    select_subgroup_size::bodies,
    share_bodies::{launches_by_body, relaunch, sign},
};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, ValueExt, bit_width, context_of, is_float},
    melior::{
        dialect::DialectHandle,
        ir::{
            Attribute, Identifier, Type, TypeLike, ValueLike,
            attribute::{ArrayAttribute, DictionaryAttribute},
        },
    },
    ops::grid,
    pass::{NoOptions, Pass},
    report,
};

/// The op.
pub const ASSERT: &str = "cf.assert";

/// The words of a record, as the page of `qd.grid.faults` has them.
const WORDS: i64 = 16;
const CLAIMED: i64 = 0;
const COMPLETE: i64 = 1;
const SITE: i64 = 2;
const BLOCK: i64 = 3;
const THREAD: i64 = 4;
const LEFT: i64 = 5;
const RIGHT: i64 = 7;

/// The predicates of `arith.cmpi`, by number.
const PREDICATES: [&str; 10] = [
    "eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge",
];

/// The pass.
pub struct ExpandAsserts;

impl Pass for ExpandAsserts {
    type Options = NoOptions;
    const NAME: &'static str = "qd-expand-asserts";
    const SUMMARY: &'static str = "Have assertions that fail note it in the device's fault record";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            DialectHandle::func(),
            DialectHandle::memref(),
            DialectHandle::scf(),
        ]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let all: Vec<_> = bodies(module)
            .into_iter()
            .map(|(body, _)| (body, asserts(body)))
            .filter(|(_, asserts)| !asserts.is_empty())
            .collect();
        // Most modules have none.
        if all.is_empty() {
            return Ok(());
        }
        let launches = launches_by_body(module);
        for (body, asserts) in all {
            if !body.is("func.func") {
                let message = "is in a phase, which is to be outlined first: run qd-outline-phases";
                return Err(Diagnostic::at(asserts[0], message));
            }
            let name = body.attr("sym_name").and_then(attributes::text);
            let name = name.unwrap_or_default();
            let launches = launches.get(&name).map_or(&[][..], Vec::as_slice);
            expand(body, &name, asserts, launches);
        }
        Ok(())
    }
}

fn asserts<'c>(body: Op<'c>) -> Vec<Op<'c>> {
    let mut all = body.nested();
    all.retain(|op| op.is(ASSERT));
    all
}

fn expand<'c>(body: Op<'c>, name: &str, asserts: Vec<Op<'c>>, launches: &[Op<'c>]) {
    let context = context_of(body);
    let Some(entry) = body.body() else { return };
    let b = Builder::before(asserts[0]);
    let record_type = Type::parse(context, &format!("memref<{WORDS}xi32>")).expect("a buffer");
    let types = [record_type, b.int_type(32)];
    let [record, first] = types.map(|r#type| entry.add_argument(r#type, body.location()));
    sign(body);
    let mut sites = Vec::new();
    for (place, op) in asserts.into_iter().enumerate() {
        let b = Builder::before(op);
        let holds = op.operand_values()[0];
        if is_never(holds) {
            let message = "never holds: each lane that comes here fails";
            Diagnostic::warning(op, message).emit();
        }
        let compared = Compared::of(holds);
        sites.push(site(op, compared.as_ref()));
        let (record, number) = (b.v(record), b.v(first) + place as i64);
        b.if_(!b.v(holds), || note(record, number, compared));
        op.erase();
    }
    for launch in launches {
        let b = Builder::before(*launch);
        let faults = b.op(
            grid::Faults::NAME,
            &[],
            &types,
            &[("sites", ArrayAttribute::new(context, &sites).into())],
        );
        let mut operands = launch.operand_values();
        operands.extend(faults.result_values());
        relaunch(*launch, name, &operands);
    }
}

/// Notes the fault, if it is the first.
fn note<'c>(record: V<'_, 'c>, number: V<'_, 'c>, compared: Option<Compared<'c>>) {
    let b = record.builder();
    let (none, one) = (b.i32(0), b.i32(1));
    let before = record.atomic_cas(b.index(CLAIMED), none, one, "device");
    b.if_(before.eq(0), || {
        record.set(b.index(SITE), number);
        record.set(b.index(BLOCK), b.block_id().to_i32());
        record.set(b.index(THREAD), b.thread_id().to_i32());
        if let Some(compared) = compared {
            for (word, value) in [(LEFT, compared.left), (RIGHT, compared.right)] {
                let (low, high) = words(b.v(value), compared.is_signed());
                record.set(b.index(word), low);
                record.set(b.index(word + 1), high);
            }
        }
        record.atomic_release(b.index(COMPLETE), one, "device");
    });
}

/// A comparison of two integers of at most 64 bits.
struct Compared<'c> {
    relation: &'static str,
    left: Value<'c>,
    right: Value<'c>,
}

impl<'c> Compared<'c> {
    fn of(condition: Value<'c>) -> Option<Self> {
        let op = condition.defining_op().filter(|op| op.is("arith.cmpi"))?;
        let predicate = attributes::int(op.attr("predicate")?)?;
        let relation = *PREDICATES.get(usize::try_from(predicate).ok()?)?;
        let [left, right] = op.operand_values()[..] else {
            return None;
        };
        let r#type = left.r#type();
        let is_number = (r#type.is_integer() || r#type.is_index()) && !is_float(r#type);
        (is_number && bit_width(r#type) <= 64).then_some(Self {
            relation,
            left,
            right,
        })
    }

    fn is_signed(&self) -> bool {
        !self.relation.starts_with('u')
    }
}

/// A number as two words, the low one first.
fn words<'b, 'c>(value: V<'b, 'c>, is_signed: bool) -> (V<'b, 'c>, V<'b, 'c>) {
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

/// What is known of a site when it is compiled.
fn site<'c>(op: Op<'c>, compared: Option<&Compared<'c>>) -> Attribute<'c> {
    let context = context_of(op);
    let text = op.attr("msg").and_then(attributes::text);
    let at = match report::span_of(op.location()) {
        Some(span) => format!("{}:{}:{}", span.file, span.line, span.column),
        None => "an unknown place".into(),
    };
    let mut named = vec![("at", at), ("text", text.unwrap_or_default())];
    named.extend(compared.map(|compared| ("relation", compared.relation.to_string())));
    let named: Vec<_> = named
        .iter()
        .map(|(name, text)| {
            let name = Identifier::new(context, name);
            (name, attributes::string(context, text))
        })
        .collect();
    DictionaryAttribute::new(context, &named).into()
}

/// Whether a condition is the constant 0.
fn is_never(condition: Value<'_>) -> bool {
    let constant = condition
        .defining_op()
        .filter(|op| op.is("arith.constant"))
        .and_then(|op| op.attr("value"));
    constant.is_some_and(|value| value.to_string() == "false")
}
