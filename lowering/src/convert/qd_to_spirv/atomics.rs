//! Atomics on an element, for `memory.rs`, which computes its address.
//!
//! The dialect has neither `OpAtomicLoad` nor `OpAtomicStore`: a load is an `or`
//! with 0 and a store an exchange, which are equivalent; the emitter replaces
//! them by loads and stores. Floats are combined as integers of their width, by
//! compare-and-swap, and so are products: support for float atomics differs
//! between devices. So every pointer points to an integer.
//!
//! 64 bits take the capability `Int64Atomics`.

use super::{floats, ordered::semantics, types::case};
use melior::ir::Type;
use qd_dialects::{
    attributes::{self, Kind},
    builder::{Builder, Combiner, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, bit_width},
    melior, ops,
};

/// A pointer to the element, as one of this type.
pub(super) type At<'a, 'b, 'c> = &'a dyn Fn(Type<'c>) -> V<'b, 'c>;

/// The ordering of an atomic op.
struct Ordered {
    scope: &'static str,
    order: &'static str,
}

impl Ordered {
    /// Upstream's atomics have no order.
    fn of(op: Op<'_>) -> Self {
        let of = |name: &str| op.attr(name).and_then(attributes::case_of);
        let is_ours = op.full_name().starts_with(ops::PREFIX);
        Self {
            scope: match of("scope") {
                Some("subgroup") => "Subgroup",
                Some("block") => "Workgroup",
                _ => "Device",
            },
            order: match is_ours {
                true => of("order").unwrap_or_default(),
                false => "relaxed",
            },
        }
    }

    /// An op of the dialect: old value, by a pointer and values.
    fn build<'b, 'c>(&self, name: &str, at: V<'b, 'c>, values: &[V<'b, 'c>]) -> V<'b, 'c> {
        let b = at.builder();
        let operands: Vec<_> = std::iter::once(at).chain(values.iter().copied()).collect();
        b.result(
            &format!("spirv.Atomic{name}"),
            &operands,
            values[0].ty(),
            &[
                ("memory_scope", case(b, "scope", self.scope)),
                ("semantics", semantics(b, self.order)),
            ],
        )
    }

    /// The old value, which is replaced if it is the expected one.
    fn compare_exchange<'b, 'c>(
        &self,
        at: V<'b, 'c>,
        [expected, desired]: [V<'b, 'c>; 2],
    ) -> V<'b, 'c> {
        let b = at.builder();
        // One that fails only loads: it cannot release.
        let failure = match self.order {
            "acquire" | "acq_rel" => "acquire",
            _ => "relaxed",
        };
        b.result(
            "spirv.AtomicCompareExchange",
            &[at, desired, expected],
            expected.ty(),
            &[
                ("memory_scope", case(b, "scope", self.scope)),
                ("equal_semantics", semantics(b, self.order)),
                ("unequal_semantics", semantics(b, failure)),
            ],
        )
    }
}

/// The integer that an element is accessed as; an error if there are no atomics
/// of its width.
fn word<'c>(b: &Builder<'c>, op: Op<'c>, element: Type<'c>) -> Result<'c, Type<'c>> {
    match bit_width(element) {
        width @ (32 | 64) => Ok(b.int_type(width)),
        _ => Err(Diagnostic::at(
            op,
            format!("is an atomic of {element}, which no device has: it is of 32 or 64 bits"),
        )),
    }
}

/// `qd.grid.atomic.load` of an element of this type.
///
/// # Errors
///
/// Elements that are not of 32 or 64 bits, as of every function here.
pub(super) fn load<'b, 'c>(
    b: &'b Builder<'c>,
    op: Op<'c>,
    element: Type<'c>,
    at: At<'_, 'b, 'c>,
) -> Result<'c, V<'b, 'c>> {
    let word = word(b, op, element)?;
    let old = Ordered::of(op).build("Or", at(word), &[b.zero(word)]);
    Ok(old.bitcast(element))
}

/// `qd.grid.atomic.store` of a value.
///
/// # Errors
///
/// As of [`load`].
pub(super) fn store<'b, 'c>(
    b: &'b Builder<'c>,
    op: Op<'c>,
    value: V<'b, 'c>,
    at: At<'_, 'b, 'c>,
) -> Result<'c> {
    let word = word(b, op, value.ty())?;
    Ordered::of(op).build("Exchange", at(word), &[value.bitcast(word)]);
    Ok(())
}

/// `qd.grid.atomic.exchange`: what was there before.
///
/// # Errors
///
/// As of [`load`].
pub(super) fn exchange<'b, 'c>(
    b: &'b Builder<'c>,
    op: Op<'c>,
    value: V<'b, 'c>,
    at: At<'_, 'b, 'c>,
) -> Result<'c, V<'b, 'c>> {
    let word = word(b, op, value.ty())?;
    let old = Ordered::of(op).build("Exchange", at(word), &[value.bitcast(word)]);
    Ok(old.bitcast(value.ty()))
}

/// `qd.grid.atomic.cas`: what was there before.
///
/// # Errors
///
/// As of [`load`].
pub(super) fn compare_and_swap<'b, 'c>(
    b: &'b Builder<'c>,
    op: Op<'c>,
    values: [V<'b, 'c>; 2],
    at: At<'_, 'b, 'c>,
) -> Result<'c, V<'b, 'c>> {
    let element = values[0].ty();
    let word = word(b, op, element)?;
    let values = values.map(|value| value.bitcast(word));
    let old = Ordered::of(op).compare_exchange(at(word), values);
    Ok(old.bitcast(element))
}

/// `qd.grid.atomic.rmw` and `memref.atomic_rmw`: what was there before.
///
/// # Errors
///
/// As of [`load`], and a kind that is not known.
pub(super) fn read_modify_write<'b, 'c>(
    b: &'b Builder<'c>,
    op: Op<'c>,
    value: V<'b, 'c>,
    at: At<'_, 'b, 'c>,
) -> Result<'c, V<'b, 'c>> {
    let Some(update) = Update::of(op) else {
        return Err(Diagnostic::at(op, "has a kind that is not known"));
    };
    let (ordered, word) = (Ordered::of(op), word(b, op, value.ty())?);
    let old = match update.instruction(value.is_float()) {
        Some(name) => ordered.build(name, at(word), &[value.bitcast(word)]),
        None => swap_until(&ordered, update, value, at(word)),
    };
    Ok(old.bitcast(value.ty()))
}

/// The operation of a read-modify-write.
#[derive(Clone, Copy)]
enum Update {
    Combine(Kind),
    Assign,
    /// A NaN wins.
    Minimum,
    /// A NaN wins.
    Maximum,
}

/// Upstream's kinds, by their number.
const UPSTREAM: [Update; 16] = [
    Update::Combine(Kind::Add),
    Update::Combine(Kind::Add),
    Update::Combine(Kind::And),
    Update::Assign,
    Update::Maximum,
    Update::Combine(Kind::MaxNumF),
    Update::Combine(Kind::MaxSi),
    Update::Combine(Kind::MaxUi),
    Update::Minimum,
    Update::Combine(Kind::MinNumF),
    Update::Combine(Kind::MinSi),
    Update::Combine(Kind::MinUi),
    Update::Combine(Kind::Mul),
    Update::Combine(Kind::Mul),
    Update::Combine(Kind::Or),
    Update::Combine(Kind::Xor),
];

impl Update {
    fn of(op: Op<'_>) -> Option<Self> {
        let kind = op.attr("kind")?;
        match attributes::int(kind) {
            Some(number) => UPSTREAM.get(usize::try_from(number).ok()?).copied(),
            None => Kind::of(kind).map(Self::Combine),
        }
    }

    /// The instruction that does it at once.
    fn instruction(self, float: bool) -> Option<&'static str> {
        let kind = match self {
            Self::Assign => return Some("Exchange"),
            Self::Combine(kind) if !float => kind,
            _ => return None,
        };
        Some(match kind {
            Kind::Add => "IAdd",
            Kind::MinSi => "SMin",
            Kind::MinUi => "UMin",
            Kind::MaxSi => "SMax",
            Kind::MaxUi => "UMax",
            Kind::And => "And",
            Kind::Or => "Or",
            Kind::Xor => "Xor",
            Kind::Mul | Kind::MinNumF | Kind::MaxNumF => return None,
        })
    }

    fn apply<'b, 'c>(self, old: V<'b, 'c>, value: V<'b, 'c>) -> V<'b, 'c> {
        match self {
            Self::Assign => value,
            Self::Minimum => floats::minimum(old, value),
            Self::Maximum => floats::maximum(old, value),
            Self::Combine(Kind::MinNumF) => floats::minnum(old, value),
            Self::Combine(Kind::MaxNumF) => floats::maxnum(old, value),
            Self::Combine(kind) => {
                let b = old.builder();
                Combiner::kind(b.context(), kind, value.ty()).apply(b, &[old], &[value])[0]
            }
        }
    }
}

/// Compares and swaps until it holds. No lane waits for another: of those that
/// try at once one succeeds.
fn swap_until<'b, 'c>(
    ordered: &Ordered,
    update: Update,
    value: V<'b, 'c>,
    at: V<'b, 'c>,
) -> V<'b, 'c> {
    let b = at.builder();
    let word = b.int_type(bit_width(value.ty()));
    let relaxed = Ordered {
        scope: ordered.scope,
        order: "relaxed",
    };
    // Others are writing here: a plain load would be a race.
    let first = relaxed.build("Or", at, &[b.zero(word)]);
    let [old, _] = b.while_(
        [first, b.bool(false)],
        |[_, done]| done.eq(0),
        |[seen, _]| {
            let next = update.apply(seen.bitcast(value.ty()), value).bitcast(word);
            let now = ordered.compare_exchange(at, [seen, next]);
            [now, now.eq(seen)]
        },
    );
    old
}
