//! Bit operations, from upstream's.

use super::Setting;
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, OpExt, Value, ValueExt, bit_width},
    melior::ir::ValueLike,
    ops::{math, simt},
};

/// An upstream count, as `i32`.
fn count<'b, 'c>(name: &str, value: V<'b, 'c>) -> V<'b, 'c> {
    value
        .builder()
        .result(name, &[value], value.ty(), &[])
        .to_i32()
}

pub(super) fn popcnt<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![
        count("math.ctpop", b.v(math::Popcnt::cast(op).value())).value(),
    ])
}

/// `math.ctlz` of 0 is the width, as it is here.
pub(super) fn clz<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![
        count("math.ctlz", b.v(math::Clz::cast(op).value())).value(),
    ])
}

pub(super) fn ffs<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    let value = b.v(math::Ffs::cast(op).value());
    let position = count("math.cttz", value) + 1;
    Ok(vec![value.eq(0).select(b.i32(0), position).value()])
}

/// The bits that count, and which of them from below: from above, the `k`-th of
/// `n` is the `n − k + 1`-th. Then a binary search by population counts.
pub(super) fn fns<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    let fns = math::Fns::cast(op);
    let (mask, base, offset) = (b.v(fns.mask()), b.v(fns.base()), b.v(fns.offset()));
    let (upwards, downwards) = (b.i32(0).slt(offset), offset.slt(0));
    let own = b.i32(1) << base;
    let from_base = b.i32(-1) << base;
    let upto_base = !from_base | own;
    let bits = mask & upwards.select(from_base, downwards.select(upto_base, own));
    let total = count("math.ctpop", bits);
    let from_above = total + offset + 1;
    let place = upwards.select(offset, downwards.select(from_above, b.i32(1)));
    let there = b.i32(0).slt(place) & place.sle(total);

    let (mut position, mut place) = (b.i32(0), place);
    for width in [16, 8, 4, 2, 1] {
        let low = count("math.ctpop", (bits >> position) & ((1 << width) - 1));
        let is_above = low.slt(place);
        position = is_above.select(position + width, position);
        place = is_above.select(place - low, place);
    }
    Ok(vec![there.select(position, b.i32(-1)).value()])
}

/// Shifts of the lane's bit. Of the lane's own number in 32 bits, where subgroups have no more lanes: that it is less
/// than 32 is not seen later.
pub(super) fn lanemask<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let r#type = op.first_result().r#type();
    let lane = b.v(simt::Lanemask::cast(op).lane());
    let relation = op.attr("relation").and_then(attributes::case_of);
    let is_own = lane
        .value()
        .defining_op()
        .is_some_and(|op| op.is(simt::LaneId::NAME));
    let is_below = matches!(relation, Some("lt" | "le" | "eq"));
    let lane = match bit_width(r#type) {
        64 if !(setting.wave <= 32 && is_own && is_below) => lane.to_i64(),
        _ => lane,
    };
    let own = lane.same(1) << lane;
    let below = own - 1;
    let mask = match relation {
        Some("lt") => below,
        Some("le") => below | own,
        Some("eq") => own,
        Some("gt") => !(below | own),
        _ => !below,
    };
    Ok(vec![mask.cast(r#type).value()])
}

/// The ten rounds, by the paper's figure: each multiplies two words of the counter, and mixes the high halves of
/// the products with the other two and the key, which a constant is added to.
pub(super) fn philox<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    let operands = b.vs(&op.operand_values());
    let (mut counter, mut key) = (operands[..4].to_vec(), operands[4..].to_vec());
    let product = |word: V<'_, 'c>, by: u32| {
        let operands = [word.value(), b.i32(by as i32).value()];
        let types = [word.ty(), word.ty()];
        let halves = b.op("arith.mului_extended", &operands, &types, &[]);
        b.vs(&halves.result_values())
    };
    for round in 0..10 {
        if round > 0 {
            for (key, by) in key.iter_mut().zip(WEYL) {
                *key = *key + i64::from(by as i32);
            }
        }
        let (first, second) = (
            product(counter[0], MULTIPLIERS[0]),
            product(counter[2], MULTIPLIERS[1]),
        );
        counter = vec![
            second[1] ^ counter[1] ^ key[0],
            second[0],
            first[1] ^ counter[3] ^ key[1],
            first[0],
        ];
    }
    Ok(counter.into_iter().map(V::value).collect())
}
