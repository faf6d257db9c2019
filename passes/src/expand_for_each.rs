//! `qd-expand-for-each`: an elementwise phase becomes a plain one.
//!
//! Each `qd.grid.for_each` becomes a `qd.grid.phase` of 256 threads a block, or of `threads`. Its
//! grid is a host expression: one block for as many elements, 65,535 at most, which
//! is the largest grid that every target has in one dimension. The body is a
//! grid-stride loop over tiles of 256, uniform in the block, with an in-bounds
//! predicate per element. Tiles beyond a live count are not visited: a large
//! capacity costs blocks that end at once, not iterations. An extent that may be below 0 is taken as 0 then.
//!
//! With `subgroups`, a subgroup enters the body if its first element is in bounds, so that
//! collectives are legal there. With `subgroups(partial)` lanes beyond the elements do what
//! nobody sees, as `qd-fill-subgroups` has it for blocks. It does so for those of `threads` that
//! fill no subgroups.
//!
//! Errors: in a `for_each` with `subgroups(partial)`, a collective under control flow that is
//! not uniform in a subgroup, or in a region of an op that is not known.
//!
//! Limits: the live count is read once, when a block begins.
//!
//! Before:
//! ```mlir
//! qd.grid.for_each "scale" %i to %len count(%n : memref<i32>) { BODY(%i) }
//! ```
//! After:
//! ```mlir
//! %tiles = arith.ceildivui %len, %c256 : index
//! %blocks = arith.minui %tiles, %c65535 : index
//! %limit = arith.index_castui (arith.minui %len, 2^31 - 1) : index to i32
//! qd.grid.phase "scale" blocks(%blocks) threads(256) {
//!   %count = memref.load %n[] : memref<i32>
//!   %live = index(%count < 0 ? 0 : arith.minui %count, %limit)
//!   scf.for %tile = %block_id to ceildiv(%live, 256) step %grid_dim {
//!     %i = %tile * 256 + %thread_id
//!     scf.if %i < %live { BODY(%i) }
//!   }
//! }
//! ```

use crate::{
    fill_subgroups::{fill_ops, holds_collective},
    outline_phases::captures,
    select_subgroup_size::WAVES,
    uniformity::{Scope, Uniformity},
    verify_convergence::{self, Calls},
};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::{InsertionPoint, Op, OpExt, Value, ValueExt, arguments, bit_width, operations},
    melior::{
        dialect::DialectHandle,
        ir::{Attribute, ValueLike},
    },
    ops::{SubgroupFill, algo, grid},
    pass::{NoOptions, Pass},
};

/// Threads in a block of an elementwise phase that does not say how many.
pub const THREADS: i64 = 256;
/// Blocks at most: what every target's grids have in their first dimension.
pub const MAX_BLOCKS: i64 = 65_535;

/// Lanes of the largest subgroups.
const LARGEST: u32 = 64;

/// The pass.
pub struct ExpandForEach;

impl Pass for ExpandForEach {
    type Options = NoOptions;
    const NAME: &'static str = "qd-expand-for-each";
    const SUMMARY: &'static str = "Expand elementwise phases into plain ones";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            DialectHandle::memref(),
            DialectHandle::scf(),
        ]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        for op in module.nested() {
            if let Some(for_each) = grid::ForEach::of(op) {
                expand(for_each)?;
            }
        }
        Ok(())
    }
}

/// Replaces one `qd.grid.for_each` by a phase.
///
/// # Errors
///
/// As of the pass.
pub fn expand<'c>(for_each: grid::ForEach<'c>) -> Result<'c> {
    let op = for_each.op();
    let b = Builder::before(op);
    let extent = match may_be_negative(for_each.extent()) {
        true => b.v(for_each.extent()).max_signed(0),
        false => b.v(for_each.extent()),
    };
    let count = for_each.count().map(|count| b.v(count));
    let count = count.map(|count| (count, b.count_limit(count, extent)));
    let (name, subgroups) = (for_each.name(), for_each.subgroups());
    let threads = for_each.threads().unwrap_or(THREADS);
    let mut partial = None;

    let blocks = extent.ceil_div(threads).min(MAX_BLOCKS);
    let phase = b.phase(name.as_deref().unwrap_or_default(), blocks, threads, || {
        let live = match count {
            Some((count, limit)) => b.live_count(count, limit),
            None => extent,
        };
        let thread = b.thread_id();
        b.for_(
            b.block_id(),
            live.ceil_div(threads),
            b.grid_dim(),
            [],
            |tile, []| {
                let begin = tile * threads;
                if subgroups.is_none() {
                    let i = begin + thread;
                    b.if_(i.lt(live), || move_body(op, i.value(), b.insertion_point()));
                    return [];
                }
                let of_subgroup = (b.subgroup_id() * b.subgroup_size()).to_index();
                let first = begin + of_subgroup;
                b.if_(first.lt(live), || {
                    let i = first + b.lane_id().to_index();
                    if subgroups == Some(SubgroupFill::Partial) {
                        partial = Partial::of(op, i, first, live);
                    }
                    move_body(op, i.value(), b.insertion_point());
                });
                []
            },
        );
    });
    if name.is_none() {
        phase.remove_attr("name");
    }
    for (key, value) in discardable(op) {
        phase.set_attr(&key, value);
    }
    op.erase();
    partial.map_or(Ok(()), |partial| partial.fill(phase, threads))
}

/// Whether an extent is not known to be 0 or more.
pub fn may_be_negative(extent: Value<'_>) -> bool {
    if let Some(constant) = extent.constant_int() {
        return constant < 0;
    }
    let Some(op) = extent.defining_op() else {
        return true;
    };
    let mut operands = op.operand_values().into_iter();
    match op.full_name() {
        "memref.dim" | algo::ScratchSlots::NAME => false,
        "arith.index_castui" => operands.any(|of| bit_width(of.r#type()) >= 64),
        "arith.minui" | "arith.maxsi" | "arith.andi" => operands.all(may_be_negative),
        "arith.addi" | "arith.muli" | "arith.divui" | "arith.ceildivui" | "arith.remui"
        | "arith.minsi" => operands.any(may_be_negative),
        _ => true,
    }
}

/// A body whose subgroups may be filled in part.
struct Partial<'c> {
    /// The ops of the body, which will be followed by the end of their block.
    ops: Vec<Op<'c>>,
    there: Value<'c>,
    present: Value<'c>,
}

impl<'c> Partial<'c> {
    /// Of the body of a `for_each` of `live` elements, at index `i` of the subgroup that begins at `first`.
    fn of<'b>(for_each: Op<'c>, i: V<'b, 'c>, first: V<'b, 'c>, live: V<'b, 'c>) -> Option<Self> {
        let b = i.builder();
        let present = (live - first).min(b.subgroup_size().to_index()).to_i32();
        let there = i.lt(live);
        let ops = for_each.body().map(operations)?;
        Some(Self {
            ops,
            there: there.value(),
            present: present.value(),
        })
    }

    /// Has lanes that are absent do what nobody sees.
    fn fill(mut self, phase: Op<'c>, threads: i64) -> Result<'c> {
        // Lanes that are absent will follow the others, whatever these do.
        let calls = Calls::new(phase);
        for wave in WAVES {
            if let Some(error) = verify_convergence::error_at(phase, threads, wave, &calls) {
                return Err(error);
            }
        }
        let (Some(body), Some(last)) = (phase.body(), self.ops.last()) else {
            return Ok(());
        };
        // What is uniform in the largest subgroups is so in all.
        let uniformity = Uniformity::analyse(body, threads, LARGEST);
        let is_counted = |op: &Op<'c>| {
            let same = |value: &Value<'c>| uniformity.is_uniform(*value, Scope::Subgroup);
            op.is("scf.for") && holds_collective(*op) && !op.operand_values()[..3].iter().all(same)
        };
        let counted: Vec<_> = phase.nested().into_iter().filter(is_counted).collect();
        let (constants, mut common) = captures(phase);
        common.extend(constants.into_iter().flat_map(OpExt::result_values));
        let end = last.next_in_block();
        self.ops.extend(end);
        fill_ops(&self.ops, self.there, self.present, common, counted)
    }
}

fn move_body<'c>(op: Op<'c>, i: Value<'c>, at: InsertionPoint<'c>) {
    let Some(body) = op.body() else {
        return;
    };
    if let Some(index) = arguments(body).first() {
        index.replace_all_uses(i);
    }
    for inner in operations(body) {
        inner.move_to(at);
    }
}

/// The attributes a user has put on an op, by name.
fn discardable<'c>(op: Op<'c>) -> Vec<(String, Attribute<'c>)> {
    op.attributes()
        .filter_map(|(name, value)| {
            let name = name.as_string_ref().as_str().ok()?.to_string();
            name.contains('.').then_some((name, value))
        })
        .collect()
}
