//! Canonical forms written in Rust; those that depend on attributes alone are folders, in
//! `sys/cpp`.
//!
//! Most rest on one fact: a uniform value need not be moved between lanes. [`is_uniform`]
//! holds for constants, for ids and sizes of the subgroup and the block, for collectives
//! with results in every lane, for arguments of a launch, and for arithmetic on all
//! these. It ignores control flow: a collective is executed by all lanes or not at all.

use crate::{
    algorithm,
    attributes::{Kind, names},
    builder::Combiner,
    interfaces::{Collective, ResultUniformity},
    ir::{self, Op, OpExt, Value, ValueExt},
    ops::{ShuffleMode, algo, grid, math, simt},
    pattern::{NoMatch, Pattern, Rewriter, Rewritten, register_canonical_form},
};
use melior::ir::{ValueLike, attribute::IntegerAttribute};
pub use qd_sys::QdLarge as Large;
use std::sync::Once;

/// Adds the forms to `canonicalize`. Any number of times; [`crate::registry`]
/// and plugins do.
pub fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        register_canonical_form::<ShuffleOfUniform>();
        register_canonical_form::<BroadcastOfUniform>();
        register_canonical_form::<BroadcastFirstOfUniform>();
        register_canonical_form::<RotateOfUniform>();
        register_canonical_form::<AllOfUniform>();
        register_canonical_form::<AnyOfUniform>();
        register_canonical_form::<ReduceOfUniform>();
        register_canonical_form::<ReduceAllOfUniform>();
        register_canonical_form::<InclusiveScanOfUniform>();
        register_canonical_form::<SegmentedReduceOfUniform>();
        register_canonical_form::<AllEqualOfUniform>();
        register_canonical_form::<ShuffleFromUniformLane>();
        register_canonical_form::<BroadcastFromLaneZero>();
        register_canonical_form::<ExclusiveScanOfOneLane>();
        register_canonical_form::<SlotsOfConstant>();
        register_canonical_form::<PhaseOfNoBlocks>();
        register_canonical_form::<ForEachOfNothing>();
        register_canonical_form::<FillOfNothing>();
    });
}

/// `canonicalize` and `cse`, in linear time for large bodies: in long bodies, ops without
/// regions are canonicalised first; in deep ones nothing else is done.
///
/// `iterations` and `with_regions` are as of `canonicalize`. The dialect is loaded.
pub fn clean(root: Op<'_>, large: Large, iterations: usize, with_regions: bool) {
    // Safety: the operation is valid, and no handle to one below it is in use.
    unsafe { qd_sys::qdClean(root.to_raw(), large, iterations as isize, with_regions) }
}

/// Addresses in memory as arithmetic; of what is deep, no more than that.
pub fn expand_strided_metadata(root: Op<'_>, large: Large) {
    // Safety: as above.
    unsafe { qd_sys::qdExpandStridedMetadata(root.to_raw(), large) }
}

/// Loop-invariant code motion; ops with regions are only moved out of loops that hold at most
/// `deepest` levels of regions.
pub fn hoist_invariants(root: Op<'_>, deepest: usize) {
    // Safety: the operation is valid, and its operations are moved, not erased.
    unsafe { qd_sys::qdHoistInvariants(root.to_raw(), deepest) }
}

/// The number of operations along a chain that [`is_uniform`] follows.
const DEPTH: usize = 6;

/// Whether a value is the same in every lane of a subgroup, as far as can be
/// seen from a few operations.
pub fn is_uniform(value: Value<'_>) -> bool {
    is_uniform_within(value, DEPTH)
}

fn is_uniform_within(value: Value<'_>, depth: usize) -> bool {
    let Some(op) = value.defining_op() else {
        // A launch hands its arguments to every thread alike.
        return value
            .block_argument()
            .and_then(|(block, _)| block.parent_operation())
            .is_some_and(|parent| {
                parent.is(grid::Kernel::NAME) || parent.attr(names::THREADS).is_some()
            });
    };
    match op.full_name() {
        simt::SubgroupSize::NAME
        | simt::Log2SubgroupSize::NAME
        | simt::SubgroupId::NAME
        | simt::NumSubgroups::NAME
        | simt::BlockId::NAME
        | simt::BlockDim::NAME
        | simt::GridDim::NAME => true,
        name if is_lanewise(name) => {
            depth > 0
                && op
                    .operand_values()
                    .into_iter()
                    .all(|operand| is_uniform_within(operand, depth - 1))
        }
        _ => Collective::of(op).is_some_and(|collective| {
            collective.result_uniformity == ResultUniformity::Uniform
                && collective.log2_cluster_size.is_none()
        }),
    }
}

/// Whether an operation yields the same for the same operands, whichever lane
/// runs it.
fn is_lanewise(name: &str) -> bool {
    name == "memref.dim" || name.starts_with("arith.") || name.starts_with(math::PREFIX)
}

/// Whether the op combines by a kind `∘` with `x ∘ x = x`.
fn is_idempotent(op: Op<'_>) -> bool {
    matches!(
        op.attr("kind").and_then(Kind::of),
        Some(
            Kind::MinSi
                | Kind::MinUi
                | Kind::MinNumF
                | Kind::MaxSi
                | Kind::MaxUi
                | Kind::MaxNumF
                | Kind::And
                | Kind::Or
        )
    )
}

/// Collectives that yield their first operand where it is uniform.
macro_rules! identity_on_uniform {
    ($($(#[$meta:meta])* $name:ident: $root:expr, if $also:expr;)*) => {$(
        $(#[$meta])*
        struct $name;

        impl Pattern for $name {
            const ROOT: &'static str = $root;
            fn rewrite<'c>(
                op: Op<'c>,
                operands: &[Value<'c>],
                rewriter: &Rewriter<'c>,
            ) -> Rewritten {
                let also: fn(Op<'c>) -> bool = $also;
                if !also(op) || !is_uniform(operands[0]) {
                    return Err(NoMatch);
                }
                rewriter.replace(&operands[..1]);
                Ok(())
            }
        }
    )*};
}

identity_on_uniform! {
    /// Where another lane is read that does not exist, the result is undefined
    /// and so may be this value too.
    ShuffleOfUniform: simt::Shuffle::NAME, if |_| true;
    BroadcastOfUniform: simt::Broadcast::NAME, if |_| true;
    BroadcastFirstOfUniform: simt::BroadcastFirst::NAME, if |_| true;
    RotateOfUniform: simt::Rotate::NAME, if |_| true;
    AllOfUniform: simt::All::NAME, if |_| true;
    AnyOfUniform: simt::Any::NAME, if |_| true;
    /// Lanes but the first may hold anything: this value, for one.
    ReduceOfUniform: simt::Reduce::NAME, if is_idempotent;
    ReduceAllOfUniform: simt::ReduceAll::NAME, if is_idempotent;
    InclusiveScanOfUniform: simt::InclusiveScan::NAME, if is_idempotent;
    SegmentedReduceOfUniform: simt::SegmentedReduce::NAME, if is_idempotent;
}

/// `all_equal %v` → true where `%v` is a uniform integer. A float may be NaN,
/// which does not equal itself.
struct AllEqualOfUniform;

impl Pattern for AllEqualOfUniform {
    const ROOT: &'static str = simt::AllEqual::NAME;
    fn rewrite<'c>(op: Op<'c>, operands: &[Value<'c>], rewriter: &Rewriter<'c>) -> Rewritten {
        if ir::is_float(operands[0].r#type()) || !is_uniform(operands[0]) {
            return Err(NoMatch);
        }
        let r#type = op.first_result().r#type();
        let value = IntegerAttribute::new(r#type, 1).into();
        let constant = rewriter.build("arith.constant", &[], &[r#type], &[("value", value)]);
        rewriter.replace(&constant.result_values());
        Ok(())
    }
}

/// `shuffle idx %v, %lane` → `broadcast %v, %lane` where the lane is uniform:
/// targets have something cheaper for it.
struct ShuffleFromUniformLane;

impl Pattern for ShuffleFromUniformLane {
    const ROOT: &'static str = simt::Shuffle::NAME;
    fn rewrite<'c>(op: Op<'c>, operands: &[Value<'c>], rewriter: &Rewriter<'c>) -> Rewritten {
        if simt::Shuffle::cast(op).mode() != ShuffleMode::Idx || !is_uniform(operands[1]) {
            return Err(NoMatch);
        }
        let types = [operands[0].r#type()];
        let broadcast = rewriter.build(simt::Broadcast::NAME, operands, &types, &[]);
        rewriter.replace(&broadcast.result_values());
        Ok(())
    }
}

/// `broadcast %v, 0` → `broadcast_first %v`.
struct BroadcastFromLaneZero;

impl Pattern for BroadcastFromLaneZero {
    const ROOT: &'static str = simt::Broadcast::NAME;
    fn rewrite<'c>(_: Op<'c>, operands: &[Value<'c>], rewriter: &Rewriter<'c>) -> Rewritten {
        if operands[1].constant_int() != Some(0) {
            return Err(NoMatch);
        }
        let types = [operands[0].r#type()];
        let first = rewriter.build(simt::BroadcastFirst::NAME, &operands[..1], &types, &[]);
        rewriter.replace(&first.result_values());
        Ok(())
    }
}

/// `exclusive_scan … tile(0)` → the identity: nothing lies below a tile's only
/// lane. (Of the other collectives this is a folder.)
struct ExclusiveScanOfOneLane;

impl Pattern for ExclusiveScanOfOneLane {
    const ROOT: &'static str = simt::ExclusiveScan::NAME;
    fn rewrite<'c>(op: Op<'c>, _: &[Value<'c>], rewriter: &Rewriter<'c>) -> Rewritten {
        if simt::ExclusiveScan::cast(op).tile() != Some(0) {
            return Err(NoMatch);
        }
        let combiner = Combiner::of_simt(op);
        let identities: Vec<_> = combiner
            .identity_attributes()
            .into_iter()
            .zip(combiner.types())
            .map(|(value, r#type)| {
                rewriter
                    .build("arith.constant", &[], &[*r#type], &[("value", value)])
                    .first_result()
            })
            .collect();
        rewriter.replace(&identities);
        Ok(())
    }
}

/// `scratch_slots` of a constant → the number.
struct SlotsOfConstant;

impl Pattern for SlotsOfConstant {
    const ROOT: &'static str = algo::ScratchSlots::NAME;
    fn rewrite<'c>(op: Op<'c>, operands: &[Value<'c>], rewriter: &Rewriter<'c>) -> Rewritten {
        let n = operands[0].constant_int();
        let n = n.and_then(|n| u64::try_from(n).ok()).ok_or(NoMatch)?;
        let (formula, depth) = algorithm::sizing(op).ok_or(NoMatch)?;
        let r#type = op.first_result().r#type();
        let slots = formula.slots(n, depth).cast_signed();
        let value = IntegerAttribute::new(r#type, slots).into();
        let constant = rewriter.build("arith.constant", &[], &[r#type], &[("value", value)]);
        rewriter.replace(&constant.result_values());
        Ok(())
    }
}

/// Steps that do nothing, as their constant operands show.
macro_rules! nothing_to_do {
    ($($(#[$meta:meta])* $name:ident: $root:expr, if $nothing:expr;)*) => {$(
        $(#[$meta])*
        struct $name;

        impl Pattern for $name {
            const ROOT: &'static str = $root;
            fn rewrite<'c>(
                _: Op<'c>,
                operands: &[Value<'c>],
                rewriter: &Rewriter<'c>,
            ) -> Rewritten {
                let constants: Vec<_> = operands.iter().map(|v| v.constant_int()).collect();
                let nothing: fn(&[Option<i64>]) -> bool = $nothing;
                if !nothing(&constants) {
                    return Err(NoMatch);
                }
                rewriter.erase();
                Ok(())
            }
        }
    )*};
}

nothing_to_do! {
    PhaseOfNoBlocks: grid::Phase::NAME, if |operands| operands[0] == Some(0);
    ForEachOfNothing: grid::ForEach::NAME, if |operands| operands[0] == Some(0);
    FillOfNothing: grid::Fill::NAME, if |operands| {
        matches!(operands[..], [_, Some(lower), Some(upper), _] if lower >= upper)
    };
}
