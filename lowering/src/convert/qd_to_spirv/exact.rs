//! Fused multiply-add, which Vulkan does not guarantee: `GL.Fma` may round the
//! product. Metal's `fma`, which it becomes there, rounds once (Metal Shading Language Specification, accuracy of
//! functions).

use super::{
    Setting,
    bits::leading_zeros,
    denormals::{extended, truncated},
    floats::{bits, is_finite, magnitude},
    integers::product,
};
use melior::ir::Type;
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, OpExt, Value, bit_width},
    melior,
};

pub(super) fn fma<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let x = b.vs(&op.operand_values());
    let result = match bit_width(x[0].ty()) {
        _ if may_round_twice(op) => x[0] * x[1] + x[2],
        _ if !setting.target.capabilities.has_f64 => b.result("spirv.GL.Fma", &x, x[0].ty(), &[]),
        64 => in_integers(x[0], x[1], x[2]),
        _ => in_double(x[0], x[1], x[2]),
    };
    Ok(vec![result.value()])
}

/// Whether two roundings are allowed.
fn may_round_twice(op: Op<'_>) -> bool {
    let flags = op.attr("fastmath").map(|flags| flags.to_string());
    flags.is_some_and(|flags| flags.contains("contract") || flags.contains("fast>"))
}

/// Narrower floats, in `f64`: there the product is exact, and the sum is rounded
/// to odd, so that rounding it again is as good as rounding once (Boldo &
/// Melquiond, 2008).
fn in_double<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>, z: V<'b, 'c>) -> V<'b, 'c> {
    let b = x.builder();
    let double = Type::float64(b.context());
    let widen = |x: V<'b, 'c>| match bit_width(x.ty()) {
        32 => extended(x),
        _ => b.result("arith.extf", &[x], double, &[]),
    };
    let (product, addend) = (widen(x) * widen(y), widen(z));
    let (sum, lost) = two_sum(product, addend);
    let word = bits(sum);
    // An infinity has lost nothing, but for what is NaN.
    let inexact = lost.lt(0) | lost.gt(0);
    let even = (word & 1).eq(0);
    // What was lost has the sum's sign if the sum is too near to zero.
    let short = (word ^ bits(lost)).slt(0).select(word - 1, word + 1);
    let odd = (inexact & even).select(short, word);
    let odd = odd.bitcast(double);
    match bit_width(x.ty()) {
        32 => truncated(odd, x.ty()),
        _ => b.result("arith.truncf", &[odd], x.ty(), &[]),
    }
}

/// `a + b`, and what rounding took from it (Knuth, 1969).
fn two_sum<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> (V<'b, 'c>, V<'b, 'c>) {
    let sum = x + y;
    let other = sum - x;
    (sum, (x - (sum - other)) + (y - other))
}

/// A number of 128 bits: low and high word.
type Wide<'b, 'c> = (V<'b, 'c>, V<'b, 'c>);

/// `mantissa · 2^exponent`, where the mantissa has 53 bits, the highest set. Exponents and counts of bits are words: NVIDIA's
/// driver loses the high half of such a number, and with it the result (`docs/rationale/vulkan.md`).
struct Parts<'b, 'c> {
    mantissa: V<'b, 'c>,
    exponent: V<'b, 'c>,
}

/// The number's, which must be finite; of zero they are garbage.
fn parts<'b, 'c>(x: V<'b, 'c>) -> Parts<'b, 'c> {
    let word = magnitude(x);
    let (biased, fraction) = ((word >> 52).to_i32(), word & ((1 << 52) - 1));
    let normal = biased.ne(0);
    let mantissa = normal.select(fraction | (1 << 52), fraction);
    let shift = leading_zeros(mantissa) - 11;
    Parts {
        mantissa: mantissa << (shift & 63).to_i64(),
        exponent: normal.select(biased, biased.same(1)) - shift - 1075,
    }
}

/// Shifted to the right, the last bit set if a bit was lost. By 127 at most,
/// which leaves nothing of a number below 2¹²⁷ but that.
fn shifted_right<'b, 'c>((low, high): Wide<'b, 'c>, by: V<'b, 'c>) -> Wide<'b, 'c> {
    let by = by.min(127);
    let (bits, word) = ((by & 63).to_i64(), by.ge(64));
    // A shift by 64 has no value.
    let carried = (high << 1) << (bits ^ 63);
    let lost = low & ((low.same(1) << bits) - 1);
    let (low, high) = ((low >> bits) | carried, high >> bits);
    let lost = lost | word.select(low, low.same(0));
    let (low, high) = (word.select(high, low), word.select(high.same(0), high));
    (low | lost.ne(0).to_i64(), high)
}

/// Shifted to the left, by 127 at most.
fn shifted_left<'b, 'c>((low, high): Wide<'b, 'c>, by: V<'b, 'c>) -> Wide<'b, 'c> {
    let (bits, word) = ((by & 63).to_i64(), by.ge(64));
    let carried = (low >> 1) >> (bits ^ 63);
    let (low, high) = (low << bits, (high << bits) | carried);
    (word.select(low.same(0), low), word.select(low, high))
}

fn sum<'b, 'c>(x: Wide<'b, 'c>, y: Wide<'b, 'c>) -> Wide<'b, 'c> {
    let low = x.0 + y.0;
    (low, x.1 + y.1 + low.lt(x.0).to_i64())
}

fn difference<'b, 'c>(x: Wide<'b, 'c>, y: Wide<'b, 'c>) -> Wide<'b, 'c> {
    (x.0 - y.0, x.1 - y.1 - x.0.lt(y.0).to_i64())
}

fn choose<'b, 'c>(condition: V<'b, 'c>, x: Wide<'b, 'c>, y: Wide<'b, 'c>) -> Wide<'b, 'c> {
    (condition.select(x.0, y.0), condition.select(x.1, y.1))
}

/// `f64`, in integers of 128 bits: the product with 20 zeros after it has its
/// highest bit in place 124 or 125, and so has the addend with 72. The one with
/// the lower exponent is shifted to the other's; where that loses bits, the other
/// is so much larger that they only matter as "some".
fn in_integers<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>, z: V<'b, 'c>) -> V<'b, 'c> {
    let (px, py, pz) = (parts(x), parts(y), parts(z));
    let (zero, none) = (px.mantissa.same(0), px.exponent.same(0));
    let factors = shifted_left(product(px.mantissa, py.mantissa), none.same(20));
    let exponent = px.exponent + py.exponent - 20;
    let nothing = magnitude(z).eq(0);
    let addend = (zero, nothing.select(zero, pz.mantissa << 8));
    let addend_exponent = nothing.select(exponent, pz.exponent - 72);

    let apart = exponent - addend_exponent;
    let larger = none.sle(apart);
    let addend = choose(
        larger,
        shifted_right(addend, larger.select(apart, none)),
        addend,
    );
    let below = larger.select(none, none - apart);
    let factors = shifted_right(factors, below);
    let exponent = exponent + below;

    let (product_sign, addend_sign) = (bits(x) ^ bits(y), bits(z));
    let alike = zero.sle(product_sign ^ addend_sign);
    let forwards = difference(factors, addend);
    let backwards = forwards.1.slt(0);
    let apart = choose(backwards, difference(addend, factors), forwards);
    let total = choose(alike, sum(factors, addend), apart);
    let turned = !alike & backwards;
    let sign = turned.select(addend_sign, product_sign);

    let rounded = rounded(total, exponent);
    let cancelled = (total.0 | total.1).eq(0);
    let sign = cancelled.select(alike.select(sign, zero), sign);
    let result = rounded | (sign & i64::MIN);
    let result = result.bitcast(x.ty());
    // A product that is zero, infinite or NaN, or does not matter.
    let plain = magnitude(x).eq(0) | magnitude(y).eq(0) | !is_finite(z);
    let finite = is_finite(x) & is_finite(y);
    let product = finite.select((product_sign & i64::MIN).bitcast(x.ty()), x * y);
    (plain | !finite).select(product + z, result)
}

/// The bits of the float nearest to `total · 2^exponent`, ties to even.
fn rounded<'b, 'c>(total: Wide<'b, 'c>, exponent: V<'b, 'c>) -> V<'b, 'c> {
    let (zero, none) = (total.0.same(0), exponent.same(0));
    let in_low = total.1.eq(0);
    let zeros = leading_zeros(in_low.select(total.0, total.1));
    let shift = in_low.select(zeros + 64, zeros);
    let (low, high) = shifted_left(total, shift & 127);
    let mantissa = high | low.ne(0).to_i64();
    // Of a normal number; what is below is denormal.
    let biased = exponent - shift + (127 + 1023);
    let denormal = biased.slt(1);
    let below = denormal.select(none.same(1) - biased, none);
    let (mantissa, _) = shifted_right((mantissa, zero), below);
    let biased = denormal.select(none, biased - 1);

    let (kept, rest) = (mantissa >> 11, mantissa & 0x7FF);
    let up = rest.gt(0x400) | (rest.eq(0x400) & (kept & 1).ne(0));
    // The highest bit counts one more in the exponent; a carry does, too.
    let word = (biased.to_i64() << 52) + kept + up.to_i64();
    let infinity = zero.same(0x7FF0_0000_0000_0000);
    let word = biased.same(2045).slt(biased).select(infinity, word);
    (total.0 | total.1).eq(0).select(zero, word)
}
