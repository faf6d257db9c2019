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

use crate::sites::{self, Memory, words};
use qd_artifact::record;
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, ValueExt, bit_width, is_float},
    melior::{
        dialect::DialectHandle,
        ir::{Attribute, TypeLike, ValueLike},
    },
    ops::grid,
    pass::{NoOptions, Pass},
};

/// The op.
pub const ASSERT: &str = "cf.assert";

/// Where faults are noted.
const RECORD: Memory = Memory {
    maker: grid::Faults::NAME,
    words: record::WORDS,
};

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
        sites::of_bodies(module, ASSERT, RECORD, |asserts, record, first| {
            let each = asserts.iter().zip(0..);
            each.map(|(op, place)| expand(*op, place, record, first))
                .collect()
        })
    }
}

/// Replaces an assertion, and returns what is known of it.
fn expand<'c>(op: Op<'c>, place: i64, record: Value<'c>, first: Value<'c>) -> Attribute<'c> {
    let b = Builder::before(op);
    let holds = op.operand_values()[0];
    if is_never(holds) {
        let message = "never holds: each lane that comes here fails";
        Diagnostic::warning(op, message).emit();
    }
    let compared = Compared::of(holds);
    let text = op.attr("msg").and_then(attributes::text);
    let relation = compared
        .as_ref()
        .map(|compared| ("relation", compared.relation.to_string()));
    let site = sites::describe(op, text.unwrap_or_default(), relation);
    let (record, number) = (b.v(record), b.v(first) + place);
    b.if_(!b.v(holds), || note(record, number, compared));
    op.erase();
    site
}

/// Notes the fault, if it is the first.
fn note<'c>(record: V<'_, 'c>, number: V<'_, 'c>, compared: Option<Compared<'c>>) {
    let b = record.builder();
    let at = |word: usize| b.index(word as i64);
    let (none, one) = (b.i32(0), b.i32(1));
    let before = record.atomic_cas(at(record::CLAIMED), none, one, "device");
    b.if_(before.eq(0), || {
        record.set(at(record::SITE), number);
        record.set(at(record::BLOCK), b.block_id().to_i32());
        record.set(at(record::THREAD), b.thread_id().to_i32());
        if let Some(compared) = compared {
            let both = [
                (record::LEFT, compared.left),
                (record::RIGHT, compared.right),
            ];
            for (word, value) in both {
                let (low, high) = words(b.v(value), compared.is_signed());
                record.set(at(word), low);
                record.set(at(word + 1), high);
            }
        }
        record.atomic_release(at(record::COMPLETE), one, "device");
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

/// Whether a condition is the constant 0.
fn is_never(condition: Value<'_>) -> bool {
    let constant = condition
        .defining_op()
        .filter(|op| op.is("arith.constant"))
        .and_then(|op| op.attr("value"));
    constant.is_some_and(|value| value.to_string() == "false")
}
