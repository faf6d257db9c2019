//! Counts of bits. Vulkan counts in 32-bit words alone: narrower integers are
//! widened, wider ones are counted by halves.

use super::Setting;
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, OpExt, Value, bit_width},
};

/// A count of a word of 32 bits.
type Count = for<'b, 'c> fn(V<'b, 'c>) -> V<'b, 'c>;

/// A count of an integer whose words are counted by `of_word`, put together by
/// `of_halves` from low and high words.
fn count<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    of_narrow: for<'b> fn(V<'b, 'c>, i64) -> V<'b, 'c>,
    of_halves: for<'b> fn(V<'b, 'c>, V<'b, 'c>) -> V<'b, 'c>,
) -> Vec<Value<'c>> {
    let value = b.v(op.operand_values()[0]);
    let width = i64::from(bit_width(value.ty()));
    let counted = match width {
        64 => {
            let wide = value.to_i64();
            of_halves(wide.to_i32(), (wide >> 32).to_i32())
        }
        _ => of_narrow(value.to_i32(), width),
    };
    vec![counted.cast(value.ty()).value()]
}

fn instruction<'b, 'c>(name: &str, word: V<'b, 'c>) -> V<'b, 'c> {
    word.builder()
        .result(&format!("spirv.{name}"), &[word], word.ty(), &[])
}

/// By itself `BitCount` would do. NVIDIA's driver counts copies of the sign with it, of what was widened by zeros from 8 or 16 bits
/// (`docs/rationale/vulkan.md`), unless something is done to the word first.
const POPULATION: Count = |word| {
    let without_highest = instruction("BitCount", word | i64::from(i32::MIN)) - 1;
    without_highest + (word >> 31)
};

/// The highest set bit is numbered −1 in 0.
const LEADING: Count = |word| word.same(31) - instruction("GL.FindUMsb", word);

/// The lowest set bit is numbered −1 in 0, which is more than 32.
const TRAILING: Count = |word| instruction("GL.FindILsb", word).min(32);

pub(super) fn ctpop<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    Ok(count(
        b,
        op,
        |word, _| POPULATION(word),
        |low, high| POPULATION(low) + POPULATION(high),
    ))
}

/// Of 64 bits, as a word.
pub(super) fn leading_zeros<'b, 'c>(value: V<'b, 'c>) -> V<'b, 'c> {
    let (low, high) = (value.to_i32(), (value >> 32).to_i32());
    of_halves(low, high)
}

fn of_halves<'b, 'c>(low: V<'b, 'c>, high: V<'b, 'c>) -> V<'b, 'c> {
    high.eq(0).select(LEADING(low) + 32, LEADING(high))
}

pub(super) fn ctlz<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    Ok(count(
        b,
        op,
        |word, width| LEADING(word) - (32 - width),
        of_halves,
    ))
}

pub(super) fn cttz<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    Ok(count(
        b,
        op,
        |word, width| TRAILING(word).min(width),
        |low, high| low.eq(0).select(TRAILING(high) + 32, TRAILING(low)),
    ))
}
