//! Scans of integers by DPP: in rows of 16 lanes first, each of which then takes in the totals of those below.
//!
//! LLVM makes a move by DPP an operand of what uses it, where lanes without a source have the identity. So a step is one
//! instruction of 32 bits, where a shuffle up by `ds_bpermute_b32` takes an address, a wait and a selection more.

use super::{dpp, shuffle};
use crate::convert::gpu_to_llvm::Setting;
use qd_dialects::{
    builder::{Builder, Combiner, V},
    diagnostic::{Diagnostic, Result},
    interfaces::Collective,
    ir::{Op, Value, bit_width},
    ops::simt,
};

/// Lanes of a row.
const ROW: i64 = 16;

/// `qd.simt.inclusive_scan` of an integer by a kind.
pub(super) fn inclusive<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    Ok(vec![scanned(b, op, setting).value()])
}

/// `qd.simt.exclusive_scan` of an integer by a kind that has inverses.
pub(super) fn exclusive<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let own = b.v(simt::SubgroupCombine::cast(op).values()[0]);
    let with_own = scanned(b, op, setting);
    let below = Combiner::of_simt(op).without(with_own, own);
    let below = below.ok_or_else(|| Diagnostic::at(op, "has a kind without inverses"))?;
    Ok(vec![below.value()])
}

fn scanned<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, setting: &Setting<'_>) -> V<'b, 'c> {
    let combiner = Combiner::of_simt(op);
    let identity = combiner.identity(b)[0];
    let log2 = Collective::of(op).and_then(|collective| collective.log2_cluster_size);
    let cluster = log2.map_or(setting.wave, |log2| 1 << log2);
    let mut value = b.v(simt::SubgroupCombine::cast(op).values()[0]);
    let with = |below: V<'b, 'c>, value: V<'b, 'c>| combiner.apply(b, &[below], &[value])[0];
    for distance in [1, 2, 4, 8].into_iter().filter(|d| *d < cluster) {
        let mut below = by_words(identity, value, |old, word| {
            dpp::from_below(old, word, distance)
        });
        if cluster < ROW {
            // The row goes on below the cluster.
            let rank = shuffle::this_lane(b, setting) & (cluster - 1);
            below = rank.ge(distance).select(below, identity);
        }
        value = with(below, value);
    }
    if cluster > ROW {
        let last = by_words(identity, value, |old, word| {
            dpp::last_of_row(old, word, setting)
        });
        value = with(last, value);
    }
    if cluster > 2 * ROW {
        let last = by_words(identity, value, |old, word| {
            dpp::last_of_half(old, word, setting)
        });
        value = with(last, value);
    }
    value
}

/// What is made of each word of a value, given that of another.
fn by_words<'b, 'c>(
    other: V<'b, 'c>,
    value: V<'b, 'c>,
    make: impl Fn(V<'b, 'c>, V<'b, 'c>) -> V<'b, 'c>,
) -> V<'b, 'c> {
    if bit_width(value.ty()) == 32 {
        return make(other, value);
    }
    let low = make(other.to_i32(), value.to_i32());
    let high = make((other >> 32).to_i32(), (value >> 32).to_i32());
    (high.to_i64() << 32) | low.to_i64()
}
