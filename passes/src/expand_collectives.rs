//! Expansion of collectives that a target does not have.
//!
//! Runs when each body has its subgroup size. Each collective of which the target has no form becomes shuffles
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
//! | `all`, `any`, `all_equal`, `count_true`, `ballot_first_n`, `match_any`, `match_all`, `active_mask` | ballots |
//! | `broadcast_first`, `rotate`, `elect`, `lanemask` | shuffles and arithmetic |
//! | `block.*` | the same in each subgroup, its totals through shared memory; or shared memory alone |
//! | `block.radix_rank` | a match in each subgroup, or a ballot a bit, or atomics, counted in shared memory |
//! | `qd.math.*` | `math` and `arith` |
//!
//! Every target has `shuffle`, `broadcast`, `ballot`, `sync` and `block.sync`. Which
//! other ops it has is in its description, which the pass queries for each op.
//!
//! Where there are several ways, `qd.form` on the op says which: `subgroups` or `shared` for a block's reductions and
//! scans, `butterflies` for its reductions; `match`, `ballots` or `atomics` for ranks; `expansion` (shuffles down) or `butterfly` for `reduce`. The first is
//! taken otherwise.
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
mod block_shared;
mod fold;
mod math;
mod radix_rank;
mod segmented;
mod sort;
mod subgroup;
mod votes;

pub use sort::{of_ordered, ordered};

use self::{
    block::Own,
    radix_rank::{Peers, radix_rank},
};
use crate::select_subgroup_size::{wave_at, wave_of};
use qd_dialects::{
    attributes::{self, names},
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value},
    melior::{
        dialect::DialectHandle,
        ir::{TypeLike, ValueLike},
    },
    ops::{self, simt},
};

/// How one op is expanded at the builder's insertion point: its results.
type Expansion = for<'c> fn(&Builder<'c>, Op<'c>, &Setting) -> Result<'c, Vec<Value<'c>>>;

/// What an op's only expansion is called where forms are.
pub const EXPANSION: &str = "expansion";

/// Every op there is an expansion of, with the expansion's form, one line each. Of several the first is the usual one.
const EXPANSIONS: &[(&str, &str, Expansion)] = &[
    (
        simt::BroadcastFirst::NAME,
        EXPANSION,
        subgroup::broadcast_first,
    ),
    (simt::Rotate::NAME, EXPANSION, subgroup::rotate),
    (simt::Elect::NAME, EXPANSION, subgroup::elect),
    (simt::Reduce::NAME, EXPANSION, subgroup::reduce),
    // Lane 0 is the lower one at every step, and combines the same.
    (simt::Reduce::NAME, "butterfly", subgroup::reduce_all),
    (simt::ReduceAll::NAME, EXPANSION, subgroup::reduce_all),
    (
        simt::InclusiveScan::NAME,
        EXPANSION,
        subgroup::inclusive_scan,
    ),
    (
        simt::ExclusiveScan::NAME,
        EXPANSION,
        subgroup::exclusive_scan,
    ),
    (
        simt::SegmentedReduce::NAME,
        EXPANSION,
        segmented::segmented_reduce,
    ),
    (simt::BitonicSortKv::NAME, EXPANSION, sort::bitonic_sort_kv),
    (simt::All::NAME, EXPANSION, votes::all),
    (simt::Any::NAME, EXPANSION, votes::any),
    (simt::AllEqual::NAME, EXPANSION, votes::all_equal),
    (simt::CountTrue::NAME, EXPANSION, votes::count_true),
    (simt::BallotFirstN::NAME, EXPANSION, votes::ballot_first_n),
    (simt::MatchAny::NAME, EXPANSION, votes::match_any),
    (simt::MatchAll::NAME, EXPANSION, votes::match_all),
    (simt::ActiveMask::NAME, EXPANSION, votes::active_mask),
    (simt::Lanemask::NAME, EXPANSION, math::lanemask),
    (simt::BlockReduce::NAME, SUBGROUPS, |b, op, setting| {
        block::reduce(b, op, setting, Own::First)
    }),
    (simt::BlockReduce::NAME, BUTTERFLIES, |b, op, setting| {
        block::reduce(b, op, setting, Own::All)
    }),
    (simt::BlockReduce::NAME, SHARED, block_shared::reduce),
    (simt::BlockReduceAll::NAME, SUBGROUPS, |b, op, setting| {
        block::reduce_all(b, op, setting, Own::First)
    }),
    (simt::BlockReduceAll::NAME, BUTTERFLIES, |b, op, setting| {
        block::reduce_all(b, op, setting, Own::All)
    }),
    (simt::BlockReduceAll::NAME, SHARED, block_shared::reduce),
    (
        simt::BlockInclusiveScan::NAME,
        SUBGROUPS,
        block::inclusive_scan,
    ),
    (
        simt::BlockInclusiveScan::NAME,
        SHARED,
        block_shared::inclusive_scan,
    ),
    (
        simt::BlockExclusiveScan::NAME,
        SUBGROUPS,
        block::exclusive_scan,
    ),
    (
        simt::BlockExclusiveScan::NAME,
        SHARED,
        block_shared::exclusive_scan,
    ),
    (simt::BlockRadixRank::NAME, "match", |b, op, setting| {
        radix_rank(b, op, setting, Peers::Match)
    }),
    (simt::BlockRadixRank::NAME, "ballots", |b, op, setting| {
        radix_rank(b, op, setting, Peers::Ballots)
    }),
    (simt::BlockRadixRank::NAME, "atomics", |b, op, setting| {
        radix_rank(b, op, setting, Peers::Atomics)
    }),
    (ops::math::Popcnt::NAME, EXPANSION, math::popcnt),
    (ops::math::Clz::NAME, EXPANSION, math::clz),
    (ops::math::Ffs::NAME, EXPANSION, math::ffs),
    (ops::math::Fns::NAME, EXPANSION, math::fns),
    (ops::math::Philox::NAME, EXPANSION, math::philox),
];

/// How a block's reductions and scans are done: in subgroups, whose totals go through shared memory, or by that
/// alone. Reductions of subgroups are by shuffles down, or by butterflies.
const SUBGROUPS: &str = "subgroups";
const BUTTERFLIES: &str = "butterflies";
const SHARED: &str = "shared";

/// Of ops with several expansions, why each does what the op says, in a line.
const REASONS: &[(&str, &str)] = &[
    (
        "butterfly",
        "lane 0 is the lower one at each step, and combines what shuffles down give it",
    ),
    (
        SUBGROUPS,
        "neighbours first: each subgroup by itself, then the subgroups' totals in their order",
    ),
    (
        BUTTERFLIES,
        "as by subgroups, where lane 0 is the lower one at each step of a butterfly",
    ),
    (
        SHARED,
        "after each step an element has combined twice as many neighbours, in their order",
    ),
    (
        "match",
        "the rank is how many with the digit stand before: earlier subgroups' counts, and the lower lanes that match",
    ),
    (
        "ballots",
        "as by match: lanes have the same digit that agree in each of its bits",
    ),
    (
        "atomics",
        "as by match: each lane sets its bit in the word of its digit, which then has those of the same",
    ),
];

/// Why an expansion that is one of several does what its op says.
pub fn reason_of(form: &str) -> Option<&'static str> {
    let mut all = REASONS.iter();
    all.find_map(|(known, reason)| (*known == form).then_some(*reason))
}

/// The forms that expansions of an op of this full name are, the usual one first; none if it has no expansion.
pub fn expansions_of(name: &str) -> impl Iterator<Item = &'static str> {
    let of_op = EXPANSIONS.iter().filter(move |(op, ..)| *op == name);
    of_op.map(|(_, form, _)| *form)
}

/// Whether there is an expansion of an op of this full name.
pub fn is_expandable(name: &str) -> bool {
    expansions_of(name).next().is_some()
}

/// Whether an op says by `qd.form` that it is to be done by one of its expansions.
pub fn asks_for_expansion(op: Op<'_>) -> bool {
    asked(op).is_some()
}

/// The expansion that an op asks for.
fn asked(op: Op<'_>) -> Option<Expansion> {
    let form = op.attr(names::FORM).and_then(attributes::text)?;
    let mut all = EXPANSIONS.iter();
    let (.., expansion) = all.find(|(name, known, _)| *name == op.full_name() && *known == form)?;
    Some(*expansion)
}

/// Whether a form leaves every bit as the usual expansion has it, in a block of so many threads and subgroups
/// of `wave` lanes: floats may be combined in another order, and so may what a function combines.
pub fn keeps_bits(op: Op<'_>, form: &str, threads: i64, wave: i64) -> bool {
    if form != SHARED {
        return true;
    }
    let is_integer = op.result_values().iter().all(|v| v.r#type().is_integer());
    // Either way it is a tree of neighbours then.
    let is_tree = || threads.count_ones() == 1 && threads / wave <= wave;
    let reduces = [simt::BlockReduce::NAME, simt::BlockReduceAll::NAME];
    (is_integer && op.attr("kind").is_some()) || (reduces.contains(&op.full_name()) && is_tree())
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
/// the subgroup size of the body: by the expansion that its `qd.form` names, or else the usual one.
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
    let usual = EXPANSIONS.iter().find(|(known, ..)| ours && *known == name);
    if let Some((.., usual)) = usual {
        let wave = wave.ok_or_else(|| {
            let message =
                "is in no body that has a subgroup size: run qd-select-subgroup-size first";
            Diagnostic::at(op, message)
        })?;
        if !keeps(op, wave) {
            ops.push((op, asked(op).unwrap_or(*usual), Setting { wave }));
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
