//! Atomics on floats of 16 bits, and on booleans.
//!
//! Loads, stores, exchanges and compare-and-swaps are of bits in any case. What combines floats
//! compares and swaps until nothing has come between; what combines booleans is `and`, `or` or
//! `xor`.

use super::{is_half, is_of_booleans, refuse};
use qd_dialects::{
    attributes::{self, Kind},
    builder::{Builder, Combiner},
    diagnostic::Result,
    ir::{self, Op, OpExt},
    melior::ir::ValueLike,
    ops::grid,
};

pub(super) fn expand<'c>(op: Op<'c>) -> Result<'c> {
    let operands = op.operand_values();
    if op.is("memref.atomic_rmw") {
        let memref = operands[1].r#type();
        let element = ir::element_type(memref).expect("a memref");
        if is_half(element) || is_of_booleans(memref) {
            return refuse(op, element, "'qd.grid.atomic.rmw' is");
        }
        if ir::bit_width(element) < 32 {
            as_ours(op);
        }
        return Ok(());
    }
    if !op.is(grid::AtomicRmw::NAME) {
        return Ok(());
    }
    let kind = grid::AtomicRmw::cast(op).kind();
    if is_of_booleans(operands[1].r#type()) {
        // −1 is the one of both that is set.
        let new = match kind {
            Kind::Add | Kind::Xor => Kind::Xor,
            Kind::Mul | Kind::And | Kind::MinUi | Kind::MaxSi => Kind::And,
            _ => Kind::Or,
        };
        op.set_attr("kind", new.attribute(ir::context_of(op)));
    } else if is_half(operands[0].r#type()) {
        swap_until(op, kind);
    }
    Ok(())
}

/// Upstream's atomics on integers of 8 and 16 bits, which LLVM does not have for every chip: ours are made of words.
fn as_ours(op: Op<'_>) {
    let b = Builder::before(op);
    let case = |name: &'static str, of| (name, attributes::case(b.context(), name, of));
    let said = [case("scope", "device"), case("order", "relaxed")];
    let operands = op.operand_values();
    let types = [operands[0].r#type()];
    // By upstream's numbers.
    let kind = match op.attr("kind").and_then(attributes::int) {
        Some(1) => Kind::Add,
        Some(2) => Kind::And,
        Some(6) => Kind::MaxSi,
        Some(7) => Kind::MaxUi,
        Some(10) => Kind::MinSi,
        Some(11) => Kind::MinUi,
        Some(13) => Kind::Mul,
        Some(14) => Kind::Or,
        Some(15) => Kind::Xor,
        _ => {
            let exchange = b.op(grid::AtomicExchange::NAME, &operands, &types, &said);
            return op.replace_with(&[exchange.first_result()]);
        }
    };
    let [scope, order] = said;
    let kind = ("kind", kind.attribute(b.context()));
    let rmw = b.op(
        grid::AtomicRmw::NAME,
        &operands,
        &types,
        &[kind, scope, order],
    );
    op.replace_with(&[rmw.first_result()]);
}

/// No thread waits for another: of those that try at once one succeeds.
fn swap_until(op: Op<'_>, kind: Kind) {
    let b = Builder::before(op);
    let operands = op.operand_values();
    let (value, at) = (b.v(operands[0]), &operands[1..]);
    let (half, word) = (value.ty(), b.int_type(16));
    let scope = ("scope", op.attr("scope").expect("a verified atomic"));
    let order = ("order", op.attr("order").expect("a verified atomic"));
    let relaxed = ("order", attributes::case(b.context(), "order", "relaxed"));
    let is_shared = ir::as_memref(operands[1].r#type()).is_some_and(|m| m.memory_space().is_some());
    let first = match is_shared {
        // A swap is as fast as a load there, and tells as much: 0 is a guess.
        true => b.zero(half),
        false => {
            let load = b.op(grid::AtomicLoad::NAME, at, &[half], &[scope, relaxed]);
            b.v(load.first_result())
        }
    };
    let combiner = Combiner::kind(b.context(), kind, half);
    let [old, _] = b.while_(
        [first, b.bool(false)],
        |[_, done]| done.eq(0),
        |[seen, _]| {
            let next = combiner.apply(&b, &[seen], &[value])[0];
            let operands = [&[seen.value(), next.value()][..], at].concat();
            let swap = b.op(grid::AtomicCas::NAME, &operands, &[half], &[scope, order]);
            let now = b.v(swap.first_result());
            [now, now.bitcast(word).eq(seen.bitcast(word))]
        },
    );
    op.replace_with(&[old.value()]);
}
