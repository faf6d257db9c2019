//! Control flow that upstream's conversion to SPIR-V lacks; assertions and
//! poison.

use super::Setting;
use melior::ir::ValueLike;
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    clone::Mapping,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, ValueExt, arguments, bit_width, is_float, operations},
    melior,
};

/// Its body, in its place.
pub(super) fn execute_region<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    match op.body() {
        Some(block) if block.next_in_region().is_none() => {
            Ok(Mapping::new().inline(block, &[], b.insertion_point()))
        }
        _ => Err(Diagnostic::at(
            op,
            "has a region of several blocks, and SPIR-V needs structure",
        )),
    }
}

/// Makes a loop without iterations yield its initial values: upstream's
/// conversion stores results at the end of each iteration, and nowhere else.
pub(super) fn yield_without_a_round(op: Op<'_>) {
    let operands = op.operand_values();
    let (lower, upper) = (operands[0], operands[1]);
    let bounds = lower.constant_int().zip(upper.constant_int());
    let Some(next) = op.next_in_block() else {
        return;
    };
    if op.result_count() == 0 || bounds.is_some_and(|(lower, upper)| lower < upper) {
        return;
    }
    let b = Builder::before(next);
    let (lower, upper) = (b.v(lower), b.v(upper));
    let has_rounds = match op.attr("unsignedCmp") {
        Some(_) => lower.lt(upper),
        None => lower.slt(upper),
    };
    for (result, initial) in op.result_values().into_iter().zip(&operands[3..]) {
        let uses = result.uses();
        let yielded = has_rounds.select(b.v(result), b.v(*initial));
        for (user, operand) in uses {
            user.set_operand_at(operand, yielded.value());
        }
    }
}

/// Makes a loop carry words in place of booleans: in some loops with phis of booleans NVIDIA's compiler of SPIR-V (driver 580.159)
/// reads through a null pointer, and ends the process.
pub(super) fn carry_words(op: Op<'_>) {
    let ops = |region| operations(op.region_block(region).expect("a region of a loop"));
    let of_region = |region| arguments(op.region_block(region).expect("a region of a loop"));
    let end = |region| *ops(region).last().expect("a terminator");
    match op.full_name() {
        "scf.for" => {
            make_words(&of_region(0)[1..], ops(0)[0]);
            widen_booleans(op, 3);
            widen_booleans(end(0), 0);
        }
        "scf.while" => {
            make_words(&of_region(0), ops(0)[0]);
            make_words(&of_region(1), ops(1)[0]);
            widen_booleans(op, 0);
            widen_booleans(end(0), 1);
            widen_booleans(end(1), 0);
        }
        _ => return,
    }
    if let Some(next) = op.next_in_block() {
        make_words(&op.result_values(), next);
    }
}

/// Makes words of those values that are booleans, and booleans of these again, before an op, for all that use them.
fn make_words<'c>(values: &[Value<'c>], before: Op<'c>) {
    let b = Builder::before(before);
    let is_boolean = |value: &&Value<'c>| value.r#type() == b.int_type(1);
    for value in values.iter().filter(is_boolean) {
        let uses = value.uses();
        value.set_type(b.int_type(32));
        let boolean = b.v(*value).ne(0).value();
        for (user, operand) in uses {
            user.set_operand_at(operand, boolean);
        }
    }
}

/// Makes words of those operands that are booleans, from one on.
fn widen_booleans(op: Op<'_>, first: usize) {
    let b = Builder::before(op);
    for (at, value) in op.operand_values().into_iter().enumerate().skip(first) {
        if value.r#type() == b.int_type(1) {
            let word = b.v(value).select(b.i32(1), b.i32(0));
            op.set_operand_at(at, word.value());
        }
    }
}

/// A binary search among the cases, ascending.
pub(super) fn index_switch<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let index = b.v(op.operand_values()[0]);
    let cases = op.attr("cases").map(attributes::i64s).unwrap_or_default();
    let mut cases: Vec<_> = cases.into_iter().zip(1..).collect();
    cases.sort_unstable();
    let results = search(b, op, index, &cases);
    Ok(results.iter().map(|v| v.value()).collect())
}

/// The region of the case that the index is, among those; the default's is the
/// first. Each region is there once, but for the default's.
fn search<'b, 'c>(
    b: &'b Builder<'c>,
    op: Op<'c>,
    index: V<'b, 'c>,
    cases: &[(i64, usize)],
) -> Vec<V<'b, 'c>> {
    let region = |number: usize| {
        let block = op.region_block(number).expect("a region for each case");
        b.vs(&Mapping::new().inline(block, &[], b.insertion_point()))
    };
    match cases {
        [] => region(0),
        [(case, number)] => b.if_else(index.eq(*case), || region(*number), || region(0)),
        _ => {
            let (low, high) = cases.split_at(cases.len() / 2);
            b.if_else(
                index.slt(high[0].0),
                || search(b, op, index, low),
                || search(b, op, index, high),
            )
        }
    }
}

/// A hint that SPIR-V does not have, such as a backoff, is dropped.
pub(super) fn nothing<'c>(_: &Builder<'c>, _: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    Ok(Vec::new())
}

/// Any value will do; this one does not depend on the driver.
pub(super) fn poison<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    use melior::ir::TypeLike;
    let r#type = op.first_result().r#type();
    let is_scalar = is_float(r#type) || r#type.is_integer() || r#type == b.index_type();
    if !is_scalar || bit_width(r#type) > 64 {
        return Err(Diagnostic::at(op, "is not of a scalar"));
    }
    Ok(vec![b.zero(r#type).value()])
}
