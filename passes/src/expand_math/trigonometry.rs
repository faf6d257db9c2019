//! Sine, cosine, tangent.
//!
//! `x = n·π/2 + r` with `|r| ≤ π/4`, where Taylor's series are off by less than
//! 2⁻⁵⁷. Up to 2²⁰ the multiple is subtracted in parts whose products are exact
//! (Cody & Waite, 1980); beyond, n's lowest bits and r come from a product with
//! those bits of 2/π that matter (Payne & Hanek, 1983).

use super::real::{
    abs, bits, from_int, from_unsigned, multiply_add, neg, polynomial, real, round, to_int,
};
use qd_dialects::{
    attributes,
    builder::V,
    ir::{InsertionPoint, OpExt, build, new_block},
    melior::ir::{Region, RegionLike},
};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// π/2 in parts of 33, 33 and 53 bits.
const PARTS: [f64; 3] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_795_950_6e-21,
];

/// The bits of 2/π, after 64 zeros.
const TWO_OVER_PI: [u64; 21] = [
    0x0000000000000000,
    0xA2F9836E4E441529,
    0xFC2757D1F534DDC0,
    0xDB6295993C439041,
    0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0,
    0x06492EEA09D1921C,
    0xFE1DEB1CB129A73E,
    0xE88235F52EBB4484,
    0xE99C7026B45F7E41,
    0x3991D639835339F4,
    0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F,
    0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA,
    0x6BFB5FB11F8D5D08,
    0x56033046FC7B6BAB,
    0xF0CFBC209AF4361D,
];

/// `|x|` less a multiple of π/2, and that multiple modulo 4 in the low bits.
struct Reduced<'b, 'c> {
    r: V<'b, 'c>,
    quadrant: V<'b, 'c>,
}

fn reduce<'b, 'c>(x: V<'b, 'c>) -> Reduced<'b, 'c> {
    let b = x.builder();
    let x = abs(x);
    let near = x.lt(real(x, 2f64.powi(20)));
    let [r, quadrant] = b.if_else(
        near,
        || {
            let n = round(x * real(x, FRAC_2_PI));
            let first = multiply_add(n, real(x, -PARTS[0]), x);
            let second = n * real(x, PARTS[1]);
            let sum = first - second;
            let lost = (first - sum) - second;
            let r = sum - (n * real(x, PARTS[2]) - lost);
            [r, to_int(n)]
        },
        || far(x),
    );
    Reduced { r, quadrant }
}

/// A word of [`TWO_OVER_PI`]: a switch, which becomes a table.
fn word<'b, 'c>(index: V<'b, 'c>) -> V<'b, 'c> {
    let b = index.builder();
    let word = b.int_type(64);
    let regions = (0..=TWO_OVER_PI.len()).map(|_| {
        let region = Region::new();
        region.append_block(new_block(&[], b.location()));
        region
    });
    let cases: Vec<_> = (0..TWO_OVER_PI.len() as i64).collect();
    let op = b.insert(build(
        "scf.index_switch",
        b.location(),
        &[index.to_index().value()],
        &[word],
        &[("cases", attributes::i64_array(b.context(), &cases))],
        regions.collect(),
    ));
    // The default's region comes first.
    for region in 0..=TWO_OVER_PI.len() {
        let block = op.region_block(region).expect("just made");
        b.at(InsertionPoint::End(block), || {
            let value = match region {
                0 => 0,
                case => TWO_OVER_PI[case - 1],
            };
            b.op("scf.yield", &[b.i64(value as i64).value()], &[], &[]);
        });
    }
    b.first(op)
}

/// The low and the high half of a product.
fn product<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> (V<'b, 'c>, V<'b, 'c>) {
    let b = x.builder();
    let operands = [x.value(), y.value()];
    let op = b.op("arith.mului_extended", &operands, &[x.ty(), x.ty()], &[]);
    let halves = b.vs(&op.result_values());
    (halves[0], halves[1])
}

/// For finite x from 2²⁰ on: `x = M·2ᴱ`, M an integer of 53 bits. Bits of 2/π
/// that make multiples of 4 of the product are skipped; of the 192 after them
/// the product modulo 4 is taken, in fixed point.
fn far<'b, 'c>(x: V<'b, 'c>) -> [V<'b, 'c>; 2] {
    let b = x.builder();
    let all = bits(x);
    let biased = (all >> 52) & 0x7FF;
    let mantissa = (all & ((1 << 52) - 1)) | (1 << 52);
    // E − 2 bits are skipped, of which 64 more are there. An infinity or a NaN
    // must only stay within the table.
    let skipped = biased.min(2046) - (1023 + 52 + 2 - 64);
    let (at, shift) = (skipped >> 6, skipped & 63);
    let words = [0, 1, 2, 3].map(|i| word(at + i));
    let shifted = |i: usize| {
        // A shift by 64 has no value.
        let below = (words[i + 1] >> 1) >> (b.i64(63) - shift);
        (words[i] << shift) | below
    };
    let (_, high0) = product(mantissa, shifted(2));
    let (low1, high1) = product(mantissa, shifted(1));
    let (low2, _) = product(mantissa, shifted(0));
    let middle = high0 + low1;
    let carry = middle.lt(low1).to_i64();
    let top = high1 + low2 + carry;

    // Two bits of the quadrant, then the fraction: taken as signed, it is the
    // distance to the nearest multiple.
    let fraction = (top << 2) | (middle >> 62);
    let quadrant = (top >> 62) + (fraction >> 63);
    let turns = multiply_add(
        from_unsigned(middle << 2),
        real(x, 2f64.powi(-128)),
        from_int(fraction) * real(x, 2f64.powi(-64)),
    );
    // NaN of an infinity and of NaN, which have no remainder; else 0.
    let r = (turns * real(x, FRAC_PI_2)) + x * real(x, 0.0);
    [r, quadrant]
}

/// `(−1)ᵏ/(2k + first)!` for k from 0 up, so many.
fn alternating(first: u32, count: u32) -> Vec<f64> {
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    (0..count)
        .map(|k| {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            sign / factorial(2 * k + first)
        })
        .collect()
}

/// Sine and cosine of the distance.
fn series<'b, 'c>(r: V<'b, 'c>) -> [V<'b, 'c>; 2] {
    let r2 = r * r;
    // The leading term last, so that it is rounded once.
    let sine = multiply_add(r * r2, polynomial(r2, &alternating(1, 10)[1..]), r);
    let cosine = multiply_add(r2, polynomial(r2, &alternating(0, 10)[1..]), real(r, 1.0));
    [sine, cosine]
}

pub(super) fn sin<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let Reduced { r, quadrant } = reduce(x);
    let [sine, cosine] = series(r);
    let value = odd(quadrant).select(cosine, sine);
    let value = flip(value, (quadrant & 2).ne(0));
    // The sine of −x; and of a zero, whose sign stays.
    let value = flip(value, bits(x).slt(0));
    x.eq(0).select(x, value)
}

pub(super) fn cos<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let Reduced { r, quadrant } = reduce(x);
    let [sine, cosine] = series(r);
    let value = odd(quadrant).select(sine, cosine);
    flip(value, ((quadrant + 1) & 2).ne(0))
}

pub(super) fn tan<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    let Reduced { r, quadrant } = reduce(x);
    let [sine, cosine] = series(r);
    let (over, under) = (
        odd(quadrant).select(neg(cosine), sine),
        odd(quadrant).select(sine, cosine),
    );
    let value = flip(over / under, bits(x).slt(0));
    x.eq(0).select(x, value)
}

fn odd<'b, 'c>(quadrant: V<'b, 'c>) -> V<'b, 'c> {
    (quadrant & 1).ne(0)
}

fn flip<'b, 'c>(value: V<'b, 'c>, condition: V<'b, 'c>) -> V<'b, 'c> {
    condition.select(neg(value), value)
}
