//! Sorting the lanes' pairs by a bitonic network.

use super::{Setting, fold::rank};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, Value, bit_width, is_float},
    melior::ir::{Type, ValueLike},
    ops::simt,
};

/// A pair, and how its members compare.
#[derive(Clone, Copy)]
struct Pair<'b, 'c> {
    key: V<'b, 'c>,
    value: V<'b, 'c>,
    unsigned_key: bool,
    unsigned_value: bool,
}

/// Batcher's network: stages of 2, 4, … lanes, each from half its size down to
/// neighbours. A lane keeps the smaller pair if it is the lower of the two in an
/// ascending run or the upper in a descending one. Equal pairs stay.
pub(super) fn bitonic_sort_kv<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let sort = simt::BitonicSortKv::cast(op);
    let size = setting.tile(op);
    let rank = rank(b, size, setting.wave);
    let types = [sort.key(), sort.value()].map(|value| value.r#type());
    let mut own = Pair {
        key: ordered(b.v(sort.key())),
        value: ordered(b.v(sort.value())),
        unsigned_key: sort.unsigned_key(),
        unsigned_value: sort.unsigned_value(),
    };
    let mut stage_size = 2;
    while stage_size <= size {
        let mut distance = stage_size / 2;
        while distance >= 1 {
            let is_lower = (rank & distance).eq(0);
            // The last stage is ascending throughout.
            let keeps_smaller = match stage_size == size {
                true => is_lower,
                false => is_lower.eq((rank & stage_size).eq(0)),
            };
            own = exchange(b, own, distance, keeps_smaller);
            distance /= 2;
        }
        stage_size *= 2;
    }
    let [key, value] = types;
    Ok(vec![
        of_ordered(own.key, key).value(),
        of_ordered(own.value, value).value(),
    ])
}

/// A float as the integer whose signed order is that of floats by their bits; an integer as it is.
pub fn ordered<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let float = x.ty();
    match x.is_float() {
        true => by_sign(x.bitcast(x.builder().int_type(bit_width(float))), float),
        false => x,
    }
}

/// The value of a type that [`ordered`] makes an integer of.
pub fn of_ordered<'b, 'c>(x: V<'b, 'c>, of: Type<'c>) -> V<'b, 'c> {
    by_sign(x, of).bitcast(of)
}

/// The bits of a float with all but the sign flipped where that is set; which it stays, so that this undoes itself.
fn by_sign<'b, 'c>(bits: V<'b, 'c>, of: Type<'c>) -> V<'b, 'c> {
    if !is_float(of) {
        return bits;
    }
    let b = bits.builder();
    let width = i64::from(bit_width(of));
    let others = b.int(bits.ty(), i64::MAX >> (64 - width));
    let negative = bits.shr_signed(b.int(bits.ty(), width - 1));
    bits ^ (negative & others)
}

fn exchange<'b, 'c>(
    b: &'b Builder<'c>,
    own: Pair<'b, 'c>,
    distance: i64,
    keeps_smaller: V<'b, 'c>,
) -> Pair<'b, 'c> {
    let lane = b.i32(distance as i32);
    let other = Pair {
        key: b.shuffle("xor", own.key, lane),
        value: b.shuffle("xor", own.value, lane),
        ..own
    };
    let choose = |condition: V<'b, 'c>, x: Pair<'b, 'c>, y: Pair<'b, 'c>| Pair {
        key: condition.select(x.key, y.key),
        value: condition.select(x.value, y.value),
        ..own
    };
    // Both lanes compare the same pair with the same other.
    let less = choose(keeps_smaller, other, own);
    let more = choose(keeps_smaller, own, other);
    choose(is_less(less, more), other, own)
}

/// Lexicographic.
fn is_less<'b, 'c>(x: Pair<'b, 'c>, y: Pair<'b, 'c>) -> V<'b, 'c> {
    let below = |a: V<'b, 'c>, b: V<'b, 'c>, unsigned| match unsigned {
        true => a.lt(b),
        false => a.slt(b),
    };
    below(x.key, y.key, x.unsigned_key)
        | (x.key.eq(y.key) & below(x.value, y.value, x.unsigned_value))
}
