//! `qd-expand-collectives`: what a target does not have, from what it has.
//!
//! After `qd-select-subgroup-size`. Each collective that `keep` does not name becomes shuffles
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
//! | `all`, `any`, `all_equal`, `ballot_first_n`, `match_any` | ballots |
//! | `broadcast_first`, `rotate`, `elect`, `lanemask` | shuffles and arithmetic |
//! | `block.*` | the same in each subgroup, its totals through shared memory |
//! | `qd.math.*` | `math` and `arith` |
//!
//! `shuffle`, `broadcast`, `ballot`, `sync` and `block.sync` are what every
//! target has. `keep` is a list of names without `qd.`, such as
//! `simt.reduce_all,math.popcnt`; `simt.all@full` keeps an op only where its
//! tile is the whole subgroup, `simt.reduce@word` only where it moreover combines
//! one `i32` by a kind other than `mul`, which is what reductions in hardware can
//! do; and `all` keeps everything.
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

use qd_dialects::{
    attributes::{self, Kind},
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, bit_width},
    melior::{
        dialect::DialectHandle,
        ir::{TypeLike, ValueLike, operation::OperationLike},
    },
    options,
    pass::Pass,
};
use std::collections::HashSet;

options! {
    /// Options of `qd-expand-collectives`.
    pub struct ExpandCollectivesOptions {
        /// what the target has: names without 'qd.', or 'all'
        keep: String = "",
    }
}

/// The pass.
pub struct ExpandCollectives;

/// How one op is expanded at the builder's insertion point: its results.
type Expansion = for<'c> fn(&Builder<'c>, Op<'c>, &Setting) -> Result<'c, Vec<Value<'c>>>;

/// Every op there is an expansion of, one line each.
const EXPANSIONS: &[(&str, Expansion)] = &[
    ("qd.simt.broadcast_first", subgroup::broadcast_first),
    ("qd.simt.rotate", subgroup::rotate),
    ("qd.simt.elect", subgroup::elect),
    ("qd.simt.reduce", subgroup::reduce),
    ("qd.simt.reduce_all", subgroup::reduce_all),
    ("qd.simt.inclusive_scan", subgroup::inclusive_scan),
    ("qd.simt.exclusive_scan", subgroup::exclusive_scan),
    ("qd.simt.segmented_reduce", segmented::segmented_reduce),
    ("qd.simt.bitonic_sort_kv", sort::bitonic_sort_kv),
    ("qd.simt.all", votes::all),
    ("qd.simt.any", votes::any),
    ("qd.simt.all_equal", votes::all_equal),
    ("qd.simt.ballot_first_n", votes::ballot_first_n),
    ("qd.simt.match_any", votes::match_any),
    ("qd.simt.lanemask", math::lanemask),
    ("qd.simt.block.reduce", block::reduce),
    ("qd.simt.block.reduce_all", block::reduce_all),
    ("qd.simt.block.inclusive_scan", block::inclusive_scan),
    ("qd.simt.block.exclusive_scan", block::exclusive_scan),
    ("qd.simt.block.radix_rank", radix_rank::radix_rank),
    ("qd.math.popcnt", math::popcnt),
    ("qd.math.clz", math::clz),
    ("qd.math.ffs", math::ffs),
    ("qd.math.fns", math::fns),
];

/// Whether there is an expansion of an op of this full name.
pub fn is_expandable(name: &str) -> bool {
    EXPANSIONS.iter().any(|(op, _)| *op == name)
}

impl Pass for ExpandCollectives {
    type Options = ExpandCollectivesOptions;
    const NAME: &'static str = "qd-expand-collectives";
    const SUMMARY: &'static str =
        "Make shuffle trees of the collectives that a target does not have";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            // The memory space of shared arrays.
            DialectHandle::gpu(),
            qd_dialects::math_dialect(),
            DialectHandle::memref(),
            DialectHandle::scf(),
        ]
    }

    fn run<'c>(module: Op<'c>, options: &ExpandCollectivesOptions) -> Result<'c> {
        let keep = Keep::parse(&options.keep).map_err(|message| Diagnostic::at(module, message))?;
        if keep.all {
            return Ok(());
        }
        let Some(wave) = module.attr("qd.wave").and_then(attributes::int) else {
            return Err(Diagnostic::at(
                module,
                "has no subgroup size yet: run qd-select-subgroup-size first",
            ));
        };
        let setting = Setting { wave, keep };
        // Expansions are made of ops that are expanded in turn.
        loop {
            let mut ops = Vec::new();
            pending(module, &setting, &mut ops);
            if ops.is_empty() {
                return Ok(());
            }
            for (op, expansion) in ops {
                let b = Builder::before(op);
                let results = expansion(&b, op, &setting)?;
                op.replace_with(&results);
            }
        }
    }
}

/// What expansions depend on besides the op.
struct Setting {
    /// Lanes in a subgroup.
    wave: i64,
    keep: Keep,
}

impl Setting {
    /// Lanes of the tile an op works on.
    fn tile(&self, op: Op) -> i64 {
        match op.attr("tile").and_then(attributes::int) {
            Some(log2) => 1 << log2,
            None => self.wave,
        }
    }

    fn keeps(&self, op: Op) -> bool {
        let name = op.full_name().trim_start_matches("qd.");
        let is_full = self.tile(op) == self.wave;
        self.keep.names.contains(name)
            || (is_full && self.keep.full.contains(name))
            || (is_full && is_of_words(op) && self.keep.words.contains(name))
    }
}

/// The ops a target has.
#[derive(Debug, Default)]
struct Keep {
    all: bool,
    names: HashSet<String>,
    /// Kept where the tile is the whole subgroup.
    full: HashSet<String>,
    /// And where one `i32` is combined by a kind other than `mul`.
    words: HashSet<String>,
}

/// Whether an op combines one `i32` by a kind other than `mul`.
fn is_of_words(op: Op) -> bool {
    let kind = op.attr("kind").and_then(Kind::of);
    let [value] = op.operand_values()[..] else {
        return false;
    };
    kind.is_some_and(|kind| kind != Kind::Mul)
        && value.r#type().is_integer()
        && bit_width(value.r#type()) == 32
}

impl Keep {
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let mut keep = Self::default();
        for item in text
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
        {
            if item == "all" {
                keep.all = true;
                continue;
            }
            let (name, set) = match item.split_once('@') {
                Some((name, "full")) => (name, &mut keep.full),
                Some((name, "word")) => (name, &mut keep.words),
                _ => (item, &mut keep.names),
            };
            if !EXPANSIONS
                .iter()
                .any(|(op, _)| op.strip_prefix("qd.") == Some(name))
            {
                let names: Vec<_> = EXPANSIONS.iter().map(|(op, _)| &op[3..]).collect();
                return Err(format!(
                    "cannot keep '{item}': expected 'all' or names out of {}",
                    names.join(", ")
                ));
            }
            set.insert(name.to_string());
        }
        Ok(keep)
    }
}

/// The outermost ops that are to be expanded.
fn pending<'c>(op: Op<'c>, setting: &Setting, ops: &mut Vec<(Op<'c>, Expansion)>) {
    let name = op.full_name();
    let ours = name.starts_with("qd.");
    let expansion = EXPANSIONS.iter().find(|(known, _)| ours && *known == name);
    if let Some((_, expansion)) = expansion
        && !setting.keeps(op)
    {
        return ops.push((op, *expansion));
    }
    for region in 0..op.region_count() {
        use qd_dialects::melior::ir::BlockLike;
        let mut block = op.region_block(region);
        while let Some(current) = block {
            for inner in qd_dialects::ir::operations(current) {
                pending(inner, setting, ops);
            }
            block = current.next_in_region();
        }
    }
}
