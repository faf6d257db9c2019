//! Application of an op's combiner to two values.

use qd_dialects::{
    attributes,
    builder::{Builder, Combiner, V},
    ir::{Op, OpExt},
    ops::{self, simt},
};

/// A combiner, and whether it may be applied to values that are not there.
pub(super) struct Fold<'c> {
    combiner: Combiner<'c>,
    /// Nothing in it has undefined behaviour, whatever it is given.
    speculatable: bool,
}

/// Arithmetic that is undefined for some operands.
const PARTIAL: &[&str] = &[
    "arith.divsi",
    "arith.divui",
    "arith.remsi",
    "arith.remui",
    "arith.ceildivsi",
    "arith.ceildivui",
    "arith.floordivsi",
];

impl<'c> Fold<'c> {
    /// The combiner of a verified subgroup or block op.
    pub fn of(op: Op<'c>) -> Self {
        let speculatable = op.nested().into_iter().all(|inner| {
            let name = inner.full_name();
            inner.region_count() == 0
                && !PARTIAL.contains(&name)
                && ["arith.", "math.", ops::Yield::NAME]
                    .iter()
                    .any(|p| name.starts_with(p))
        });
        Self {
            combiner: Combiner::of_simt(op),
            speculatable,
        }
    }

    /// The op's operands that it combines: as many as it has results.
    pub fn values<'b>(&self, b: &'b Builder<'c>, op: Op<'c>) -> Vec<V<'b, 'c>> {
        b.vs(&op.operand_values()[..op.result_count()])
    }

    /// The identity, as constants.
    pub fn identity<'b>(&self, b: &'b Builder<'c>) -> Vec<V<'b, 'c>> {
        self.combiner.identity(b)
    }

    /// Whether operands may be exchanged.
    pub fn is_commutative(&self) -> bool {
        self.combiner.is_commutative()
    }

    /// `left ∘ right`.
    pub fn apply<'b>(
        &self,
        b: &'b Builder<'c>,
        left: &[V<'b, 'c>],
        right: &[V<'b, 'c>],
    ) -> Vec<V<'b, 'c>> {
        self.combiner.apply(b, left, right)
    }

    /// `left ∘ right` where `there` holds, and `otherwise` elsewhere; operands
    /// may be undefined elsewhere.
    pub fn apply_where<'b>(
        &self,
        b: &'b Builder<'c>,
        there: V<'b, 'c>,
        left: &[V<'b, 'c>],
        right: &[V<'b, 'c>],
        otherwise: &[V<'b, 'c>],
    ) -> Vec<V<'b, 'c>> {
        if self.speculatable {
            return select(there, &self.apply(b, left, right), otherwise);
        }
        b.if_else(there, || self.apply(b, left, right), || otherwise.to_vec())
    }

    /// A subgroup op of this combiner on tiles of `size` lanes.
    pub fn collective<'b>(
        &self,
        b: &'b Builder<'c>,
        name: &str,
        values: &[V<'b, 'c>],
        size: i64,
    ) -> Vec<V<'b, 'c>> {
        let operands: Vec<_> = values.iter().map(|v| v.value()).collect();
        let name = format!("{}{name}", simt::PREFIX);
        let op = b.insert(self.combiner.build(&name, b.location(), &operands));
        if !name.contains("block.") {
            op.set_attr(
                "tile",
                attributes::i32(b.context(), size.trailing_zeros() as i32),
            );
        }
        b.vs(&op.result_values())
    }
}

/// One of two lists of values.
pub(super) fn select<'b, 'c>(
    condition: V<'b, 'c>,
    then: &[V<'b, 'c>],
    otherwise: &[V<'b, 'c>],
) -> Vec<V<'b, 'c>> {
    then.iter()
        .zip(otherwise)
        .map(|(a, b)| condition.select(*a, *b))
        .collect()
}

/// Each value as another lane has it; none is used where there is no such lane.
pub(super) fn shuffle<'b, 'c>(
    b: &'b Builder<'c>,
    mode: &str,
    values: &[V<'b, 'c>],
    lane: V<'b, 'c>,
) -> Vec<V<'b, 'c>> {
    let of_lane = |v: &V<'b, 'c>| match mode {
        "up" | "down" => b.shuffle_in_range(mode, *v, lane),
        _ => b.shuffle(mode, *v, lane),
    };
    values.iter().map(of_lane).collect()
}

/// This lane's number in its tile.
pub(super) fn rank<'b, 'c>(b: &'b Builder<'c>, size: i64, wave: i64) -> V<'b, 'c> {
    match size == wave {
        true => b.lane_id(),
        false => b.lane_id() & (size - 1),
    }
}

/// 1, 2, 4, … below `size`.
pub(super) fn doublings(size: i64) -> impl Iterator<Item = i64> {
    (0..size.trailing_zeros()).map(|log2| 1 << log2)
}

/// The values in the IR.
pub(super) fn raw<'c>(values: &[V<'_, 'c>]) -> Vec<qd_dialects::ir::Value<'c>> {
    values.iter().map(|v| v.value()).collect()
}
