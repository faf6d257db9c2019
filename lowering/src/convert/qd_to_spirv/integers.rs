//! Integers: booleans as numbers of one bit, wide products, powers, remainders, and
//! upstream's `index` dialect.

use super::{Setting, floats::conversions};
use crate::convert::classes::power;
use melior::ir::{Attribute, ValueLike};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, OpExt, Value, ValueExt, bit_width, is_float},
    melior,
};

/// Arithmetic that SPIR-V does not have on booleans, and whether it takes
/// them as unsigned.
const OF_TRUTH: &[(&str, bool)] = &[
    ("arith.addi", false),
    ("arith.subi", false),
    ("arith.muli", false),
    ("arith.divsi", false),
    ("arith.divui", true),
    ("arith.ceildivsi", false),
    ("arith.ceildivui", true),
    ("arith.floordivsi", false),
    ("arith.remsi", false),
    ("arith.remui", true),
    ("arith.shli", true),
    ("arith.shrsi", false),
    ("arith.shrui", true),
    ("arith.minsi", false),
    ("arith.minui", true),
    ("arith.maxsi", false),
    ("arith.maxui", true),
    // True is above false as −1 is above 0 without its sign.
    ("arith.cmpi", false),
    ("arith.sitofp", false),
    ("arith.fptosi", false),
    ("arith.fptoui", true),
];

fn is_truth(value: Value<'_>) -> bool {
    !is_float(value.r#type()) && bit_width(value.r#type()) == 1
}

/// An op on booleans, as the same on words.
pub(super) fn of_truth<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> Option<V<'b, 'c>> {
    let name = op.full_name();
    let (_, unsigned) = OF_TRUTH.iter().find(|(known, _)| *known == name)?;
    let of_truth = op.operand_values().into_iter().any(is_truth);
    let to_truth = !name.starts_with("arith.cmp") && is_truth(op.first_result());
    if !of_truth && !to_truth {
        return None;
    }
    let word = b.int_type(32);
    let extension = match unsigned {
        true => "arith.extui",
        false => "arith.extsi",
    };
    let widen = |value: Value<'c>| match is_truth(value) {
        true => b.result(extension, &[b.v(value)], word, &[]),
        false => b.v(value),
    };
    let operands: Vec<_> = op.operand_values().into_iter().map(widen).collect();
    let predicate = op.attr("predicate").map(|value| ("predicate", value));
    let attributes: Vec<_> = predicate.into_iter().collect();
    let r#type = match to_truth {
        true => word,
        false => op.first_result().r#type(),
    };
    let result = b.result(name, &operands, r#type, &attributes);
    Some(result.cast(op.first_result().r#type()))
}

conversions! {
    absi: |x| magnitude(x[0]);
    ipowi: |x| power(x[0], x[1]);
}

/// The absolute value; that of the smallest number is right as unsigned, and of one
/// bit there are 0 and the smallest.
fn magnitude<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    if is_truth(x.value()) {
        return x;
    }
    x.slt(0).select(x.same(0) - x, x)
}

pub(super) fn remsi<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    let x = b.vs(&op.operand_values());
    let result = of_truth(b, op).unwrap_or_else(|| remainder(x[0], x[1]));
    Ok(vec![result.value()])
}

/// Makes one instruction of each minimum and maximum of words. `arith-expand` would make
/// a comparison and a choice of it, which NVIDIA's driver gets wrong where the same is
/// computed in all lanes (`docs/rationale/vulkan.md`).
pub(super) fn minima(function: Op<'_>) {
    for op in function.nested() {
        let instruction = match op.full_name() {
            "arith.minsi" => "spirv.GL.SMin",
            "arith.minui" => "spirv.GL.UMin",
            "arith.maxsi" => "spirv.GL.SMax",
            "arith.maxui" => "spirv.GL.UMax",
            _ => continue,
        };
        let r#type = op.first_result().r#type();
        if bit_width(r#type) < 32 {
            continue;
        }
        let b = &Builder::before(op);
        let operands = b.vs(&op.operand_values());
        op.replace_with(&[b.result(instruction, &operands, r#type, &[]).value()]);
    }
}

/// Extracts each lowest bit. NVIDIA's driver takes that of a thread's number for 1 in blocks of an odd number of threads where
/// a mask or a remainder asks for it (`docs/rationale/vulkan.md`). Vulkan extracts from words only.
pub(super) fn lowest_bits(function: Op<'_>) {
    for op in function.nested() {
        if let Some(of) = of_lowest_bit(op) {
            let b = &Builder::before(op);
            let word = b.int_type(32);
            let x = b.v(of).cast(word);
            let bit = b.result(
                "spirv.BitFieldUExtract",
                &[x, x.same(0), x.same(1)],
                word,
                &[],
            );
            op.replace_with(&[bit.cast(of.r#type()).value()]);
        }
    }
}

/// What an op computes the lowest bit of, if it does: `x & 1`, `x % 2`, or `x` shifted up and down again by all of its other bits.
fn of_lowest_bit(op: Op<'_>) -> Option<Value<'_>> {
    let operands = op.operand_values();
    let is = |constant: i64| operands[1].constant_int() == Some(constant);
    let of = match op.full_name() {
        "arith.andi" if is(1) => operands[0],
        "arith.remui" if is(2) => operands[0],
        "arith.shrui" => {
            let up = operands[0].defining_op().filter(|up| up.is("arith.shli"))?;
            let by = up.operand_values()[1].constant_int()?;
            let is_all = by == i64::from(bit_width(operands[0].r#type())) - 1 && is(by);
            is_all.then(|| up.operand_values()[0])?
        }
        _ => return None,
    };
    (bit_width(of.r#type()) > 1).then_some(of)
}

/// The remainder that has the sign of `x`, from an unsigned one: Vulkan leaves the
/// result of `SRem` open where an operand is negative. Upstream compares with the
/// magnitude for the sign, and takes the smallest number for positive.
fn remainder<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    let rest = magnitude(x) % magnitude(y);
    x.slt(0).select(rest.same(0) - rest, rest)
}

/// The sum, and whether it is too large: then it is less than either.
pub(super) fn addui_extended<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let x = b.vs(&op.operand_values());
    if is_truth(x[0].value()) {
        return Ok(vec![(x[0] ^ x[1]).value(), (x[0] & x[1]).value()]);
    }
    let sum = x[0] + x[1];
    Ok(vec![sum.value(), sum.lt(x[0]).value()])
}

pub(super) fn mului_extended<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let x = b.vs(&op.operand_values());
    if is_truth(x[0].value()) {
        return Ok(product_of_truth(x[0], x[1]));
    }
    let (low, high) = product(x[0], x[1]);
    Ok(vec![low.value(), high.value()])
}

/// As unsigned, less what a negative factor then is too much.
pub(super) fn mulsi_extended<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let x = b.vs(&op.operand_values());
    if is_truth(x[0].value()) {
        return Ok(product_of_truth(x[0], x[1]));
    }
    let (low, high) = product(x[0], x[1]);
    let excess = |factor: V<'_, 'c>, other| factor.slt(0).select(other, factor.same(0)).value();
    let high = high - b.v(excess(x[0], x[1])) - b.v(excess(x[1], x[0]));
    Ok(vec![low.value(), high.value()])
}

/// Of one bit each: 1 · 1 and −1 · −1 are 1, of which the upper half is 0.
fn product_of_truth<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> Vec<Value<'c>> {
    vec![(x & y).value(), x.same(0).value()]
}

/// Low and high half of an unsigned product, from products of half as many bits
/// that fit: drivers differ in what they make of SPIR-V's for 64 bits.
pub(super) fn product<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> (V<'b, 'c>, V<'b, 'c>) {
    let bits = i64::from(bit_width(x.ty()));
    let half = bits / 2;
    let mask = (1 << half) - 1;
    let (x0, x1, y0, y1) = (x & mask, x >> half, y & mask, y >> half);
    let low = x0 * y0;
    let middle = x1 * y0 + (low >> half);
    let cross = x0 * y1 + (middle & mask);
    let high = x1 * y1 + (middle >> half) + (cross >> half);
    (x * y, high)
}

/// Ops of `index` as those of `arith`, but for constants and comparisons of the
/// same operands and results.
const OF_INDEX: &[(&str, &str)] = &[
    ("index.add", "arith.addi"),
    ("index.sub", "arith.subi"),
    ("index.mul", "arith.muli"),
    ("index.divs", "arith.divsi"),
    ("index.divu", "arith.divui"),
    ("index.ceildivs", "arith.ceildivsi"),
    ("index.ceildivu", "arith.ceildivui"),
    ("index.floordivs", "arith.floordivsi"),
    ("index.rems", "arith.remsi"),
    ("index.remu", "arith.remui"),
    ("index.and", "arith.andi"),
    ("index.or", "arith.ori"),
    ("index.xor", "arith.xori"),
    ("index.shl", "arith.shli"),
    ("index.shrs", "arith.shrsi"),
    ("index.shru", "arith.shrui"),
    ("index.mins", "arith.minsi"),
    ("index.minu", "arith.minui"),
    ("index.maxs", "arith.maxsi"),
    ("index.maxu", "arith.maxui"),
    ("index.cmp", "arith.cmpi"),
    ("index.casts", "arith.index_cast"),
    ("index.castu", "arith.index_castui"),
    ("index.constant", "arith.constant"),
    ("index.bool.constant", "arith.constant"),
];

/// An op of `index`, as one of `arith`.
pub(super) fn of_index<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> Option<V<'b, 'c>> {
    let name = op.full_name();
    if name == "index.sizeof" {
        // What the reference says, whatever indices are computed in.
        return Some(b.index(64));
    }
    let (_, new) = OF_INDEX.iter().find(|(known, _)| *known == name)?;
    let mut attributes: Vec<(&str, Attribute<'c>)> = Vec::new();
    attributes.extend(op.attr("value").map(|value| ("value", value)));
    if let Some(predicate) = op.attr("pred") {
        let number = predicate_number(&predicate.to_string())?;
        attributes.push(("predicate", attributes::i64(b.context(), number)));
    }
    let operands = b.vs(&op.operand_values());
    if *new == "arith.remsi" {
        return Some(remainder(operands[0], operands[1]));
    }
    Some(b.result(new, &operands, op.first_result().r#type(), &attributes))
}

/// The number that `arith.cmpi` has for `#index<cmp_predicate ult>`.
fn predicate_number(text: &str) -> Option<i64> {
    let name = text.trim_end_matches('>').rsplit([' ', '<']).next()?;
    const NAMES: [&str; 10] = [
        "eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge",
    ];
    (0..)
        .zip(NAMES)
        .find_map(|(i, known)| (known == name).then_some(i))
}
