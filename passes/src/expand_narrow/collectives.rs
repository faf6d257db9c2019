//! Collectives on values of less than 32 bits: they are widened, and results narrowed.
//!
//! Integers and extremes are exact in 32 bits. A sum or a product of 16-bit floats is a region
//! over `f32` that rounds each combination to their type, which is what arithmetic on it does.
//! A region over narrow scalars takes and yields their bits.

use super::{
    is_half,
    widths::{Widening, is_narrow},
};
use qd_dialects::{
    attributes::{self, Kind},
    builder::{Builder, Combiner},
    interfaces::Collective,
    ir::{
        InsertionPoint, Op, OpExt, Value, ValueExt, Values, arguments, bit_width, is_float,
        operations,
    },
    melior::ir::{Attribute, Type, ValueLike, attribute::ArrayAttribute},
    ops::{self, simt},
};

/// Widens the operands of a collective, if some are narrow.
pub(super) fn expand(op: Op<'_>) {
    if Collective::of(op).is_none() {
        return;
    }
    match op.full_name() {
        simt::Shuffle::NAME
        | simt::Broadcast::NAME
        | simt::BroadcastFirst::NAME
        | simt::Rotate::NAME => widen(op, 1, &|_, _| Widening::Bits),
        simt::AllEqual::NAME => widen(op, 1, &|_, r#type| equality(r#type)),
        simt::MatchAny::NAME => match_any(op),
        simt::MatchAll::NAME => widen(op, 1, &|_, _| Widening::Bits),
        simt::BitonicSortKv::NAME => widen(op, 2, &|i, r#type| {
            let unsigned = ["unsigned_key", "unsigned_value"][i];
            match (is_float(r#type), op.attr(unsigned).is_some()) {
                (true, _) => Widening::Float,
                (_, true) => Widening::Bits,
                (_, false) => Widening::Signed,
            }
        }),
        // What combines has a region, which may be empty.
        _ if op.region_count() == 1 => combine(op),
        _ => {}
    }
}

/// What compares equal as a narrow value does.
fn equality(r#type: Type<'_>) -> Widening {
    match is_float(r#type) {
        true => Widening::Float,
        false => Widening::Bits,
    }
}

/// Widens the first `count` operands, and the results of the same number.
fn widen(op: Op<'_>, count: usize, how: &dyn Fn(usize, Type<'_>) -> Widening) {
    // A vote's result is no value of the operand's.
    let results = match op.full_name() {
        simt::AllEqual::NAME => Values::new(),
        _ => op.result_values(),
    };
    for (i, operand) in op.operand_values().into_iter().enumerate().take(count) {
        let r#type = operand.r#type();
        if !is_narrow(r#type) {
            continue;
        }
        let (b, how) = (Builder::before(op), how(i, r#type));
        op.set_operand_at(i, how.widen(b.v(operand)).value());
        if let Some(result) = results.get(i).filter(|result| result.r#type() == r#type) {
            narrow_result(&b, op, *result, how);
        }
    }
}

/// Makes a result wide, and narrows it for those that use it.
fn narrow_result<'c>(b: &Builder<'c>, op: Op<'c>, result: Value<'c>, how: Widening) {
    let (uses, r#type) = (result.uses(), result.r#type());
    result.set_type(how.wide(b));
    // A use comes later in the block, or in something that does.
    let Some(next) = op.next_in_block().filter(|_| !uses.is_empty()) else {
        return;
    };
    let narrowed = b.at(InsertionPoint::Before(next), || {
        how.narrow(b.v(result), r#type).value()
    });
    for (user, operand) in uses {
        user.set_operand_at(operand, narrowed);
    }
}

/// Compares as many bits as there are.
fn match_any(op: Op<'_>) {
    let r#type = op.operand_values()[0].r#type();
    if !is_narrow(r#type) {
        return;
    }
    if op.attr("bits").is_none() {
        let b = Builder::before(op);
        op.set_attr(
            "bits",
            attributes::i32(b.context(), bit_width(r#type) as i32),
        );
    }
    widen(op, 1, &|_, _| Widening::Bits);
}

fn combine(op: Op<'_>) {
    let types: Vec<_> = op.result_values().iter().map(|v| v.r#type()).collect();
    if !types.iter().any(|r#type| is_narrow(*r#type)) {
        return;
    }
    let count = types.len();
    match (op.attr("kind").and_then(Kind::of), is_float(types[0])) {
        (Some(kind @ (Kind::Add | Kind::Mul)), true) => rounded(op, kind, types[0]),
        (Some(_), true) => widen(op, count, &|_, _| Widening::Float),
        (Some(Kind::MinSi | Kind::MaxSi), _) => widen(op, count, &|_, _| Widening::High),
        (Some(_), _) => widen(op, count, &|_, _| Widening::Bits),
        (None, _) => {
            widen_region(op, &types);
            widen(op, count, &|_, _| Widening::Bits);
        }
    }
}

/// A kind on `f16` or `bf16`, as a region over `f32`.
fn rounded<'c>(op: Op<'c>, kind: Kind, half: Type<'c>) {
    debug_assert!(is_half(half));
    let b = Builder::before(op);
    let combiner = Combiner::of_simt(op).rounding(b.f32_type(), half);
    let is_exclusive = matches!(
        op.full_name(),
        simt::ExclusiveScan::NAME | simt::BlockExclusiveScan::NAME
    );
    // Only an exclusive scan yields it; −0 changes no sum.
    let identity = match kind {
        Kind::Add if !is_exclusive => b.float_attribute(b.f32_type(), -0.0),
        _ => combiner.identity_attributes()[0],
    };
    let mut operands = op.operand_values();
    let wide = Widening::Float;
    operands[0] = wide.widen(b.v(operands[0])).value();
    let new = b.insert(combiner.build(op.full_name(), op.location(), &operands));
    let identities = ArrayAttribute::new(b.context(), &[identity]);
    new.set_attr("identities", identities.into());
    for name in ["tile", "qd.form"] {
        if let Some(value) = op.attr(name) {
            new.set_attr(name, value);
        }
    }
    let result = wide.narrow(b.v(new.first_result()), half);
    op.replace_with(&[result.value()]);
}

/// A region's scalars as their bits.
pub fn widen_region<'c>(op: Op<'c>, types: &[Type<'c>]) {
    let (Some(block), b) = (op.body(), Builder::before(op)) else {
        return;
    };
    let how = Widening::Bits;
    let all = arguments(block);
    let first = *operations(block).first().expect("a combiner yields");
    b.at(InsertionPoint::Before(first), || {
        for (argument, r#type) in all.into_iter().zip(types.iter().cycle()) {
            if !is_narrow(*r#type) {
                continue;
            }
            let uses = argument.uses();
            argument.set_type(how.wide(&b));
            let narrowed = how.narrow(b.v(argument), *r#type).value();
            for (user, operand) in uses {
                user.set_operand_at(operand, narrowed);
            }
        }
    });
    let end = *operations(block).last().expect("a combiner yields");
    debug_assert!(end.is(ops::Yield::NAME));
    let b = Builder::before(end);
    for (i, value) in end.operand_values().into_iter().enumerate() {
        if is_narrow(types[i]) {
            end.set_operand_at(i, how.widen(b.v(value)).value());
        }
    }
    let identities = op.attr("identities").map(attributes::elements);
    let widened: Vec<Attribute> = identities
        .unwrap_or_default()
        .into_iter()
        .zip(types)
        .map(|(identity, r#type)| match is_narrow(*r#type) {
            true => b.int_attribute(how.wide(&b), constant_bits(identity, *r#type)),
            false => identity,
        })
        .collect();
    op.set_attr(
        "identities",
        ArrayAttribute::new(b.context(), &widened).into(),
    );
}

/// The bits of a constant of a narrow type, zero-extended.
pub(super) fn constant_bits(value: Attribute<'_>, r#type: Type<'_>) -> i64 {
    match attributes::float(value) {
        Some(float) if is_half(r#type) => super::halves::bits_of(float, r#type),
        _ => {
            let mask = (1 << bit_width(r#type)) - 1;
            attributes::int(value).unwrap_or_default() & mask
        }
    }
}
