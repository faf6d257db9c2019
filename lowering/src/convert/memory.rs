//! Views, atomics and fences, in the LLVM dialect.
//!
//! What differs between targets is how LLVM names the scopes, and whether the
//! back end heeds the order of a read-modify-write.

use crate::convert::descriptor;
use melior::ir::{Attribute, Type, ValueLike, attribute::DenseI64ArrayAttribute};
use qd_dialects::{
    attributes::{self, Kind},
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

/// `qd.grid.atomic.rmw`.
pub fn atomic_rmw<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, scopes: &Scopes) -> V<'b, 'c> {
    let rmw = grid::AtomicRmw::cast(op);
    let (kind, value) = (rmw.kind(), b.v(rmw.value()));
    let at = address(b, rmw.memref(), rmw.indices());
    let (order, scope) = (ordering(op), scopes.of(op));
    let is_lax = matches!(kind, Kind::MinNumF | Kind::MaxNumF) && !scopes.rmw_orders_zeros;
    let operation = match is_lax {
        true => None,
        false => instruction(kind, value.is_float()),
    };
    let Some(operation) = operation else {
        return swap_until(b, kind, value, at, order, scope);
    };
    update(b, operation, at, value, order, scopes, scope)
}

/// The number of `llvm.atomicrmw`'s exchange.
const EXCHANGE: i64 = 0;

/// An `llvm.atomicrmw` with this operation: the old value.
fn update<'b, 'c>(
    b: &'b Builder<'c>,
    operation: i64,
    at: V<'b, 'c>,
    value: V<'b, 'c>,
    order: i64,
    scopes: &Scopes,
    scope: Option<&str>,
) -> V<'b, 'c> {
    let fenced = !scopes.rmw_has_order && order != RELAXED;
    if fenced && matches!(order, RELEASE | ACQ_REL) {
        fence(b, order, scope);
    }
    let order_of_op = if fenced { RELAXED } else { order };
    let mut attributes = named(b, ("ordering", order_of_op), scope);
    attributes.push(("bin_op", attributes::i64(b.context(), operation)));
    let old = b.result("llvm.atomicrmw", &[at, value], value.ty(), &attributes);
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

/// Compares and swaps until it holds, where there is no instruction.
fn swap_until<'b, 'c>(
    b: &'b Builder<'c>,
    kind: Kind,
    value: V<'b, 'c>,
    at: V<'b, 'c>,
    order: i64,
    scope: Option<&str>,
) -> V<'b, 'c> {
    let word = b.int_type(ir::bit_width(value.ty()));
    // Others are writing here: a plain load would be a race.
    let mut attributes = named(b, ("ordering", RELAXED), scope);
    attributes.push(alignment(b, word));
    let first = b.result("llvm.load", &[at], word, &attributes);
    let combiner = Combiner::kind(b.context(), kind, value.ty());
    let [old, _] = b.while_(
        [first, b.bool(false)],
        |[_, done]| done.eq(0),
        |[seen, _]| {
            let next = combiner.apply(b, &[seen.bitcast(value.ty())], &[value])[0].bitcast(word);
            let (now, swapped) = compare_exchange(b, at, [seen, next], order, scope);
            [swapped.select(seen, now), swapped]
        },
    );
    old.bitcast(value.ty())
}

/// `qd.grid.atomic.exchange`.
pub fn atomic_exchange<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, scopes: &Scopes) -> V<'b, 'c> {
    let exchange = grid::AtomicExchange::cast(op);
    let at = address(b, exchange.memref(), exchange.indices());
    let value = b.v(exchange.value());
    // Of bits: no target has to know that they are a float's.
    let word = value.bitcast(b.int_type(ir::bit_width(value.ty())));
    let old = update(b, EXCHANGE, at, word, ordering(op), scopes, scopes.of(op));
    old.bitcast(value.ty())
}

/// `qd.grid.atomic.cas`.
pub fn atomic_cas<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, scopes: &Scopes) -> V<'b, 'c> {
    let cas = grid::AtomicCas::cast(op);
    let at = address(b, cas.memref(), cas.indices());
    // Of bits: a float may be either zero, or a NaN.
    let r#type = cas.expected().r#type();
    let word = b.int_type(ir::bit_width(r#type));
    let values = [cas.expected(), cas.desired()].map(|value| b.v(value).bitcast(word));
    let (old, _) = compare_exchange(b, at, values, ordering(op), scopes.of(op));
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
