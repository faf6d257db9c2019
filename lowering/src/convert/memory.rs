//! Views, atomics and fences, in the LLVM dialect.
//!
//! What differs between targets is how LLVM names the scopes, and whether the
//! back end heeds the order of a read-modify-write.

use crate::convert::{descriptor, field::Field};
use melior::ir::{Attribute, Type, ValueLike, attribute::DenseI64ArrayAttribute};
use qd_dialects::{
    attributes::{self, Kind, names},
    builder::{Builder, Combiner, V},
    ir::{self, Op, OpExt, Value},
    melior,
    ops::{Order, Scope, grid},
};

/// How a target's back end takes scopes and orders.
pub struct Scopes {
    /// LLVM's name of a block; `None` is the whole system.
    pub block: Option<&'static str>,
    /// LLVM's name of the device.
    pub device: Option<&'static str>,
    /// Whether the order of an `atomicrmw` reaches the code. Where it does not,
    /// fences stand around one.
    pub rmw_has_order: bool,
    /// Whether an `atomicrmw` of a float minimum or maximum orders −0 below +0, of
    /// which LLVM says nothing.
    pub rmw_orders_zeros: bool,
    /// Whether atomics on less than 32 bits compare and swap the word around the element, and what compares and swaps in
    /// shared memory begins with a guess of what is there. LLVM's own loops, which it does not have for all of them, begin
    /// with a load. Where that is an instruction like any other, nobody who looks for races can tell it from one, and in
    /// shared memory it is no faster than a swap.
    pub by_words: bool,
    /// Whether there is an instruction that adds doubles in shared memory.
    pub adds_shared_doubles: bool,
}

impl Scopes {
    fn of(&self, op: Op<'_>) -> Option<&'static str> {
        match op.attr("scope").and_then(Scope::of) {
            Some(Scope::Device) => self.device,
            // A subgroup has no scope of its own in LLVM.
            _ => self.block,
        }
    }
}

// LLVM's numbers of orderings.
const RELAXED: i64 = 2;
/// The number of acquiring.
pub const ACQUIRE: i64 = 4;
/// The number of releasing.
pub const RELEASE: i64 = 5;
const ACQ_REL: i64 = 6;
/// The number of sequential consistency.
pub const SEQ_CST: i64 = 7;

fn ordering(op: Op<'_>) -> i64 {
    match op.attr("order").and_then(Order::of) {
        Some(Order::Relaxed) => RELAXED,
        Some(Order::Acquire) => ACQUIRE,
        Some(Order::Release) => RELEASE,
        Some(Order::AcqRel) | None => ACQ_REL,
    }
}

/// The attributes of every atomic operation.
type Named<'c> = Vec<(&'static str, Attribute<'c>)>;

fn named<'c>(b: &Builder<'c>, order: (&'static str, i64), scope: Option<&str>) -> Named<'c> {
    let mut named = vec![(order.0, attributes::i64(b.context(), order.1))];
    named.extend(scope.map(|scope| ("syncscope", attributes::string(b.context(), scope))));
    named
}

/// `qd.grid.view`: part of a buffer as another element type.
pub fn view<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> V<'b, 'c> {
    let view = grid::View::cast(op);
    let pointer = address(b, view.source(), vec![view.offset()]);
    let size = view.size().map(|size| b.v(size).to_i64());
    descriptor::memref_from_pointer(b, pointer, size, view.result().r#type())
}

/// The address of an element.
fn address<'b, 'c>(b: &'b Builder<'c>, memref: Value<'c>, indices: Vec<Value<'c>>) -> V<'b, 'c> {
    descriptor::pointer_of_element(b, b.v(memref), &b.vs(&indices))
}

fn alignment<'c>(b: &Builder<'c>, r#type: Type<'c>) -> (&'static str, Attribute<'c>) {
    let bytes = i64::from(ir::bit_width(r#type).div_ceil(8));
    ("alignment", attributes::i64(b.context(), bytes))
}

/// `qd.grid.atomic.load`.
pub fn atomic_load<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, scopes: &Scopes) -> V<'b, 'c> {
    let load = grid::AtomicLoad::cast(op);
    let at = address(b, load.memref(), load.indices());
    let r#type = load.result().r#type();
    let mut attributes = named(b, ("ordering", ordering(op)), scopes.of(op));
    attributes.push(alignment(b, r#type));
    b.result("llvm.load", &[at], r#type, &attributes)
}

/// `qd.grid.atomic.store`.
pub fn atomic_store<'c>(b: &Builder<'c>, op: Op<'c>, scopes: &Scopes) {
    let store = grid::AtomicStore::cast(op);
    let at = address(b, store.memref(), store.indices());
    let value = b.v(store.value());
    let mut attributes = named(b, ("ordering", ordering(op)), scopes.of(op));
    attributes.push(alignment(b, value.ty()));
    b.op("llvm.store", &[value.value(), at.value()], &[], &attributes);
}

/// A fence of an ordering in a scope.
pub fn fence(b: &Builder<'_>, order: i64, scope: Option<&str>) {
    b.op(
        "llvm.fence",
        &[],
        &[],
        &named(b, ("ordering", order), scope),
    );
}

/// Where an atomic reaches an element: at a word, of which it may be a field.
struct Place<'b, 'c> {
    at: V<'b, 'c>,
    field: Field<'b, 'c>,
    /// Whether nothing is loaded before the first swap.
    is_guessed: bool,
    scope: Option<&'static str>,
    order: i64,
}

impl<'b, 'c> Place<'b, 'c> {
    /// The place that `op` names, whose elements have a type.
    fn of(
        b: &'b Builder<'c>,
        op: Op<'c>,
        (memref, indices): (Value<'c>, Vec<Value<'c>>),
        element: Type<'c>,
        scopes: &Scopes,
    ) -> Self {
        let own = b.int_type(ir::bit_width(element));
        let is_guessed = scopes.by_words && op.attr(names::ON_SHARED).is_some();
        let at = address(b, memref, indices);
        let (at, word, first) = match scopes.by_words && ir::bit_width(element) < 32 {
            false => (at, own, None),
            true => {
                let number = b.result("llvm.ptrtoint", &[at], b.int_type(64), &[]);
                let byte = number & 3;
                let at = descriptor::offset_pointer(b, at, b.i64(0) - byte, b.int_type(8));
                (at, b.int_type(32), Some(byte.to_i32() << 3))
            }
        };
        Self {
            at,
            field: Field {
                word,
                element,
                first,
            },
            is_guessed,
            scope: scopes.of(op),
            order: ordering(op),
        }
    }

    /// Compares and swaps until it holds, where there is no instruction: what was there before.
    fn swap_until(&self, next: impl Fn(V<'b, 'c>) -> V<'b, 'c>) -> V<'b, 'c> {
        let b = self.at.builder();
        let word = self.field.word;
        let first = match self.is_guessed {
            true => b.zero(word),
            // Others are writing here: a plain load would be a race.
            false => {
                let mut attributes = named(b, ("ordering", RELAXED), self.scope);
                attributes.push(alignment(b, word));
                b.result("llvm.load", &[self.at], word, &attributes)
            }
        };
        let [old, _] = b.while_(
            [first, b.bool(false)],
            |[_, done]| done.eq(0),
            |[seen, _]| {
                let next = self.field.write(seen, next(self.field.read(seen)));
                let (now, swapped) =
                    compare_exchange(b, self.at, [seen, next], self.order, self.scope);
                [swapped.select(seen, now), swapped]
            },
        );
        self.field.read(old)
    }
}

/// `qd.grid.atomic.rmw`.
pub fn atomic_rmw<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, scopes: &Scopes) -> V<'b, 'c> {
    let rmw = grid::AtomicRmw::cast(op);
    let (kind, value) = (rmw.kind(), b.v(rmw.value()));
    let place = Place::of(b, op, (rmw.memref(), rmw.indices()), value.ty(), scopes);
    let is_lax = matches!(kind, Kind::MinNumF | Kind::MaxNumF) && !scopes.rmw_orders_zeros;
    let is_sum_of_doubles =
        kind == Kind::Add && value.is_float() && ir::bit_width(value.ty()) == 64;
    // Elsewhere LLVM makes a loop of its own.
    let is_looped = is_sum_of_doubles && place.is_guessed && !scopes.adds_shared_doubles;
    let operation = match is_lax || is_looped || place.field.first.is_some() {
        true => None,
        false => instruction(kind, value.is_float()),
    };
    match operation {
        Some(operation) => update(b, operation, value, &place, scopes),
        None => {
            let combiner = Combiner::kind(b.context(), kind, value.ty());
            place.swap_until(|old| combiner.apply(b, &[old], &[value])[0])
        }
    }
}

/// The number of `llvm.atomicrmw`'s exchange.
const EXCHANGE: i64 = 0;

/// An `llvm.atomicrmw` with this operation: the old value.
fn update<'b, 'c>(
    b: &'b Builder<'c>,
    operation: i64,
    value: V<'b, 'c>,
    place: &Place<'b, 'c>,
    scopes: &Scopes,
) -> V<'b, 'c> {
    let (order, scope) = (place.order, place.scope);
    let fenced = !scopes.rmw_has_order && order != RELAXED;
    if fenced && matches!(order, RELEASE | ACQ_REL) {
        fence(b, order, scope);
    }
    let order_of_op = if fenced { RELAXED } else { order };
    let mut attributes = named(b, ("ordering", order_of_op), scope);
    attributes.push(("bin_op", attributes::i64(b.context(), operation)));
    let old = b.result(
        "llvm.atomicrmw",
        &[place.at, value],
        value.ty(),
        &attributes,
    );
    if fenced && matches!(order, ACQUIRE | ACQ_REL) {
        fence(b, order, scope);
    }
    old
}

/// The number of `llvm.atomicrmw`'s operation, if it has the kind.
fn instruction(kind: Kind, float: bool) -> Option<i64> {
    match kind {
        Kind::Add if float => Some(11),
        Kind::Add => Some(1),
        Kind::And => Some(3),
        Kind::Or => Some(5),
        Kind::Xor => Some(6),
        Kind::MaxSi => Some(7),
        Kind::MinSi => Some(8),
        Kind::MaxUi => Some(9),
        Kind::MinUi => Some(10),
        Kind::MaxNumF => Some(13),
        Kind::MinNumF => Some(14),
        Kind::Mul => None,
    }
}

/// `qd.grid.atomic.exchange`.
pub fn atomic_exchange<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, scopes: &Scopes) -> V<'b, 'c> {
    let exchange = grid::AtomicExchange::cast(op);
    let value = b.v(exchange.value());
    let reached = (exchange.memref(), exchange.indices());
    let place = Place::of(b, op, reached, value.ty(), scopes);
    if place.field.first.is_some() {
        return place.swap_until(|_| value);
    }
    // Of bits: no target has to know that they are a float's.
    let word = value.bitcast(b.int_type(ir::bit_width(value.ty())));
    let old = update(b, EXCHANGE, word, &place, scopes);
    old.bitcast(value.ty())
}

/// `qd.grid.atomic.cas`.
pub fn atomic_cas<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, scopes: &Scopes) -> V<'b, 'c> {
    let cas = grid::AtomicCas::cast(op);
    let r#type = cas.expected().r#type();
    let place = Place::of(b, op, (cas.memref(), cas.indices()), r#type, scopes);
    // Of bits: a float may be either zero, or a NaN.
    let own = b.int_type(ir::bit_width(r#type));
    let values = [cas.expected(), cas.desired()].map(|value| b.v(value).bitcast(own));
    if place.field.first.is_some() {
        let [expected, desired] = values;
        let next = |old: V<'b, 'c>| {
            let old = old.bitcast(own);
            old.eq(expected).select(desired, old).bitcast(r#type)
        };
        return place.swap_until(next);
    }
    let (old, _) = compare_exchange(b, place.at, values, place.order, place.scope);
    old.bitcast(r#type)
}

/// The old value, and whether it was the expected one.
fn compare_exchange<'b, 'c>(
    b: &'b Builder<'c>,
    at: V<'b, 'c>,
    [expected, desired]: [V<'b, 'c>; 2],
    order: i64,
    scope: Option<&str>,
) -> (V<'b, 'c>, V<'b, 'c>) {
    let pair = Type::parse(
        b.context(),
        &format!("!llvm.struct<({}, i1)>", expected.ty()),
    )
    .expect("the llvm dialect");
    // A failed exchange only loads: it cannot release.
    let failure = match order {
        ACQUIRE | ACQ_REL => ACQUIRE,
        _ => RELAXED,
    };
    let mut attributes = named(b, ("success_ordering", order), scope);
    attributes.push(("failure_ordering", attributes::i64(b.context(), failure)));
    let result = b.result("llvm.cmpxchg", &[at, expected, desired], pair, &attributes);
    let field = |i: i64, r#type| {
        let position = DenseI64ArrayAttribute::new(b.context(), &[i]).into();
        b.result(
            "llvm.extractvalue",
            &[result],
            r#type,
            &[("position", position)],
        )
    };
    (field(0, expected.ty()), field(1, b.int_type(1)))
}
