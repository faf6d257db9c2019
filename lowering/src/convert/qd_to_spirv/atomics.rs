//! Atomics on an element, for `memory.rs`, which computes its address.
//!
//! The dialect has neither `OpAtomicLoad` nor `OpAtomicStore`: a load is an `or`
//! with 0 and a store an exchange, which are equivalent; the emitter replaces
//! them by loads and stores. Floats are combined as integers of their width, by
//! compare-and-swap, and so are products: support for float atomics differs
//! between devices. So every pointer points to an integer.
//!
//! No device has atomics of 8 and 16 bits: these compare and swap the word around the element, whose other bytes stay as
//! they are. In a buffer that word is found by the address; of shared arrays with such atomics each element has a word.
//!
//! 64 bits take the capability `Int64Atomics`.

use super::{
    floats,
    ordered::semantics,
    types::{self, Storage, case},
};
use crate::convert::{descriptor, field::Field};
use melior::ir::{Type, ValueLike};
use qd_dialects::{
    attributes::{self, Kind},
    builder::{Builder, Combiner, V},
    diagnostic::{Diagnostic, Result},
    interfaces::accessed,
    ir::{Op, OpExt, bit_width, element_type},
    melior, ops,
};

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

/// The type of the memory that an op is an atomic on, if it is one.
pub(super) fn memory(op: Op<'_>) -> Option<Type<'_>> {
    let name = op.full_name();
    let is_atomic = name.starts_with("qd.grid.atomic.") || name == "memref.atomic_rmw";
    let memory = accessed(op).filter(|_| is_atomic)?;
    Some(op.operand_values()[memory].r#type())
}

/// Whether an op is an atomic of less than 32 bits on a shared array.
pub(super) fn is_narrow_shared(op: Op<'_>) -> bool {
    memory(op).is_some_and(|memref| bits(memref) < 32 && descriptor::is_shared(memref))
}

/// The bits of an element of such memory.
pub(super) fn bits(memref: Type<'_>) -> u32 {
    element_type(memref).map_or(0, bit_width)
}

/// Where an atomic reaches an element of 8 to 64 bits: at a word, of which it may be a field.
pub(super) struct Reached<'b, 'c> {
    /// A pointer to the word.
    at: V<'b, 'c>,
    field: Field<'b, 'c>,
}

impl<'b, 'c> Reached<'b, 'c> {
    /// `pointer` is one to the element, as one of a type.
    pub(super) fn of(
        b: &'b Builder<'c>,
        element: Type<'c>,
        storage: Storage,
        pointer: impl Fn(Type<'c>) -> V<'b, 'c>,
    ) -> Self {
        let (width, word) = (bit_width(element), b.int_type(32));
        let own = b.int_type(width);
        let (at, word, first) = match storage {
            _ if width >= 32 => (pointer(own), own, None),
            Storage::Words => (pointer(word), word, Some(b.i32(0))),
            // A buffer may be part of another, and begin anywhere in a word.
            _ => {
                let address = b.result("spirv.ConvertPtrToU", &[pointer(own)], b.int_type(64), &[]);
                let to_word = types::pointer(b, &word.to_string(), storage);
                let at = b.result("spirv.ConvertUToPtr", &[address & !3], to_word, &[]);
                (at, word, Some((address & 3).cast(word) << 3))
            }
        };
        let field = Field {
            word,
            element,
            first,
        };
        Self { at, field }
    }

    /// Compares and swaps until it holds: what was there before. No lane waits for another: of those that try at once one
    /// succeeds.
    fn swap_until(&self, ordered: &Ordered, next: impl Fn(V<'b, 'c>) -> V<'b, 'c>) -> V<'b, 'c> {
        let b = self.at.builder();
        let relaxed = Ordered {
            scope: ordered.scope,
            order: "relaxed",
        };
        // Others are writing here: a plain load would be a race.
        let first = relaxed.build("Or", self.at, &[b.zero(self.field.word)]);
        let [old, _] = b.while_(
            [first, b.bool(false)],
            |[_, done]| done.eq(0),
            |[seen, _]| {
                let next = self.field.write(seen, next(self.field.read(seen)));
                let now = ordered.compare_exchange(self.at, [seen, next]);
                [now, now.eq(seen)]
            },
        );
        self.field.read(old)
    }

    /// `qd.grid.atomic.load`.
    pub(super) fn load(&self, op: Op<'c>) -> V<'b, 'c> {
        let zero = self.at.builder().zero(self.field.word);
        self.field
            .read(Ordered::of(op).build("Or", self.at, &[zero]))
    }

    /// `qd.grid.atomic.exchange` and `qd.grid.atomic.store` of a value: what was there before.
    pub(super) fn exchange(&self, op: Op<'c>, value: V<'b, 'c>) -> V<'b, 'c> {
        let ordered = Ordered::of(op);
        if self.field.first.is_some() {
            return self.swap_until(&ordered, |_| value);
        }
        let word = value.bitcast(self.field.word);
        self.field.read(ordered.build("Exchange", self.at, &[word]))
    }

    /// `qd.grid.atomic.cas`: what was there before.
    pub(super) fn compare_and_swap(
        &self,
        op: Op<'c>,
        [expected, desired]: [V<'b, 'c>; 2],
    ) -> V<'b, 'c> {
        let ordered = Ordered::of(op);
        if self.field.first.is_some() {
            return self.swap_until(&ordered, |old| old.eq(expected).select(desired, old));
        }
        let words = [expected, desired].map(|value| value.bitcast(self.field.word));
        self.field.read(ordered.compare_exchange(self.at, words))
    }

    /// `qd.grid.atomic.rmw` and `memref.atomic_rmw`: what was there before.
    ///
    /// # Errors
    ///
    /// A kind that is not known.
    pub(super) fn read_modify_write(&self, op: Op<'c>, value: V<'b, 'c>) -> Result<'c, V<'b, 'c>> {
        let Some(update) = Update::of(op) else {
            return Err(Diagnostic::at(op, "has a kind that is not known"));
        };
        let ordered = Ordered::of(op);
        let instruction = update
            .instruction(value.is_float())
            .filter(|_| self.field.first.is_none());
        Ok(match instruction {
            Some(name) => {
                let word = value.bitcast(self.field.word);
                self.field.read(ordered.build(name, self.at, &[word]))
            }
            None => self.swap_until(&ordered, |old| update.apply(old, value)),
        })
    }
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
