//! Expansion of collectives that a target does not have.
//!
//! Runs after `qd-select-subgroup-size`. Each collective that is not kept becomes shuffles
//! and ballots of its subgroup, and for a block shared memory and barriers:
//!
//! | op | becomes |
//! |---|---|
//! | `reduce` | log2 shuffles down, neighbours first, so that order is kept |
//! | `reduce_all` | a butterfly of xor shuffles; the lower lane is the left operand |
//! | `inclusive_scan` | Hillis–Steele: shuffles up, guarded by the lane |
//! | `exclusive_scan` | the inclusive one, shifted by a lane, identity in front |
//! | `segmented_reduce` | a ballot of heads, distance to the last one by `clz`, and a scan bounded by it |
//! | `bitonic_sort_kv` | the bitonic network |
//! | `all`, `any`, `all_equal`, `count_true`, `ballot_first_n`, `match_any` | ballots |
//! | `broadcast_first`, `rotate`, `elect`, `lanemask` | shuffles and arithmetic |
//! | `block.*` | the same in each subgroup, its totals through shared memory |
//! | `qd.math.*` | `math` and `arith` |
//!
//! Every target has `shuffle`, `broadcast`, `ballot`, `sync` and `block.sync`. Which
//! other ops it has is in its description, which the pass queries for each op.
//!
//! Limits: combiner regions are inlined, so a large one is repeated log2 times.
//! A block op in a function that is called needs to be inlined first.
//!
//! Before, for subgroups of 4:
//! ```mlir
//! %s = qd.simt.reduce_all add %v tile(2) : i32
//! ```
//! After:
//! ```mlir
//! %0 = qd.simt.shuffle xor %v, %c1 : i32
//! %1 = arith.addi %v, %0 : i32
//! %2 = qd.simt.shuffle xor %1, %c2 : i32
//! %s = arith.addi %1, %2 : i32
//! ```

mod block;
mod fold;
mod math;
mod radix_rank;
mod segmented;
mod sort;
mod subgroup;
mod votes;

use crate::select_subgroup_size::{wave_at, wave_of};
use qd_dialects::{
    attributes,
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value},
    melior::dialect::DialectHandle,
    ops::{self, simt},
};

/// How one op is expanded at the builder's insertion point: its results.
type Expansion = for<'c> fn(&Builder<'c>, Op<'c>, &Setting) -> Result<'c, Vec<Value<'c>>>;

/// Every op there is an expansion of, one line each.
const EXPANSIONS: &[(&str, Expansion)] = &[
    (simt::BroadcastFirst::NAME, subgroup::broadcast_first),
    (simt::Rotate::NAME, subgroup::rotate),
    (simt::Elect::NAME, subgroup::elect),
    (simt::Reduce::NAME, subgroup::reduce),
    (simt::ReduceAll::NAME, subgroup::reduce_all),
    (simt::InclusiveScan::NAME, subgroup::inclusive_scan),
    (simt::ExclusiveScan::NAME, subgroup::exclusive_scan),
    (simt::SegmentedReduce::NAME, segmented::segmented_reduce),
    (simt::BitonicSortKv::NAME, sort::bitonic_sort_kv),
    (simt::All::NAME, votes::all),
    (simt::Any::NAME, votes::any),
    (simt::AllEqual::NAME, votes::all_equal),
    (simt::CountTrue::NAME, votes::count_true),
    (simt::BallotFirstN::NAME, votes::ballot_first_n),
    (simt::MatchAny::NAME, votes::match_any),
    (simt::Lanemask::NAME, math::lanemask),
    (simt::BlockReduce::NAME, block::reduce),
    (simt::BlockReduceAll::NAME, block::reduce_all),
    (simt::BlockInclusiveScan::NAME, block::inclusive_scan),
    (simt::BlockExclusiveScan::NAME, block::exclusive_scan),
    (simt::BlockRadixRank::NAME, radix_rank::radix_rank),
    (ops::math::Popcnt::NAME, math::popcnt),
    (ops::math::Clz::NAME, math::clz),
    (ops::math::Ffs::NAME, math::ffs),
    (ops::math::Fns::NAME, math::fns),
];

/// Whether there is an expansion of an op of this full name.
pub fn is_expandable(name: &str) -> bool {
    EXPANSIONS.iter().any(|(op, _)| *op == name)
}

/// Dialects of the ops that expansions are made of.
pub fn dialects() -> Vec<DialectHandle> {
    vec![
        DialectHandle::arith(),
        // The memory space of shared arrays.
        DialectHandle::gpu(),
        qd_dialects::math_dialect(),
        DialectHandle::memref(),
        DialectHandle::scf(),
    ]
}

/// Expands every collective below `module`, except those for which `keeps` returns true, given
/// the subgroup size of the body.
///
/// # Errors
///
/// An op that is to be expanded is in no body whose subgroup size has been chosen, or is one of a
/// block's and in no body.
pub fn expand<'c>(module: Op<'c>, keeps: &dyn Fn(Op<'c>, i64) -> bool) -> Result<'c> {
    // Expansions are made of ops that are expanded in turn.
    loop {
        let mut ops = Vec::new();
        pending(module, wave_of(module), keeps, &mut ops)?;
        if ops.is_empty() {
            return Ok(());
        }
        for (op, expansion, setting) in ops {
            let b = Builder::before(op);
            let results = expansion(&b, op, &setting)?;
            op.replace_with(&results);
        }
    }
}

/// What expansions depend on besides the op.
#[derive(Clone, Copy)]
struct Setting {
    /// Lanes in a subgroup.
    wave: i64,
}

impl Setting {
    /// Lanes of the tile an op works on.
    fn tile(&self, op: Op) -> i64 {
        match op.attr("tile").and_then(attributes::int) {
            Some(log2) => 1 << log2,
            None => self.wave,
        }
    }
}

/// An op, and how it is expanded.
type Pending<'c> = (Op<'c>, Expansion, Setting);

/// The outermost ops that are to be expanded, of what is in a body for subgroups of `wave` lanes.
fn pending<'c>(
    op: Op<'c>,
    wave: Option<i64>,
    keeps: &dyn Fn(Op<'c>, i64) -> bool,
    ops: &mut Vec<Pending<'c>>,
) -> Result<'c> {
    let name = op.full_name();
    let ours = name.starts_with(ops::PREFIX);
    let expansion = EXPANSIONS.iter().find(|(known, _)| ours && *known == name);
    if let Some((_, expansion)) = expansion {
        let wave = wave.ok_or_else(|| {
            let message =
                "is in no body that has a subgroup size: run qd-select-subgroup-size first";
            Diagnostic::at(op, message)
        })?;
        if !keeps(op, wave) {
            ops.push((op, *expansion, Setting { wave }));
            return Ok(());
        }
    }
    for region in 0..op.region_count() {
        let mut block = op.region_block(region);
        while let Some(current) = block {
            for inner in qd_dialects::ir::operations(current) {
                pending(inner, wave_at(inner).or(wave), keeps, ops)?;
            }
            block = current.next_in_region();
        }
    }
    Ok(())
}
