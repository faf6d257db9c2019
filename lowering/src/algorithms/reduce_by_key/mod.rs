//! `qd.algo.reduce_by_key`: combine the values of each run of equal keys.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on few cores |
//! | `lookback` | on many cores, where a block may wait for those before it |
//! | `hierarchical` | everywhere |
//!
//! No strategy uses atomics: a region combiner need not commute, and float sums
//! are to depend on the input alone.

mod lookback;
mod sweep;

use super::{Algorithm, Strategy, always, chain, latency_oriented, levels::Count, sweep::Form};
use qd_dialects::{
    builder::{Builder, Combiner, V},
    ir::{Op, OpExt},
};

/// The line of the table.
pub(super) const REDUCE_BY_KEY: Algorithm = Algorithm {
    op: "qd.algo.reduce_by_key",
    strategies: &[
        Strategy {
            name: "chunked",
            suits: latency_oriented,
            expand: |b, op, _| sweep::expand(b, op, Form::Chunked),
        },
        Strategy {
            name: "lookback",
            suits: |_, capabilities| chain::suits(capabilities),
            expand: lookback::expand,
        },
        Strategy {
            name: "hierarchical",
            suits: always,
            expand: |b, op, _| sweep::expand(b, op, Form::Hierarchical),
        },
    ],
};

/// What the op says.
struct ReduceByKey<'b, 'c> {
    keys: V<'b, 'c>,
    values: V<'b, 'c>,
    keys_out: V<'b, 'c>,
    values_out: V<'b, 'c>,
    num_runs: V<'b, 'c>,
    scratch: V<'b, 'c>,
    count: Count<'b, 'c>,
    combiner: Combiner<'c>,
    depth: u32,
    deterministic: bool,
}

impl<'b, 'c> ReduceByKey<'b, 'c> {
    fn of(b: &'b Builder<'c>, op: Op<'c>) -> Self {
        let operand = |i: usize| b.v(op.operand_values()[i]);
        let depth = super::depth(op);
        Self {
            keys: operand(0),
            values: operand(1),
            keys_out: operand(2),
            values_out: operand(3),
            num_runs: operand(4),
            scratch: operand(5),
            count: Count::new(b, operand(6), depth, (0..4).map(operand)),
            combiner: Combiner::of(op, &[operand(1).element()]),
            depth,
            deterministic: super::deterministic(op),
        }
    }

    /// Whether a run begins at element `i`, which exists: its key differs from
    /// the one before. A NaN equals nothing.
    fn is_head(&self, i: V<'b, 'c>) -> V<'b, 'c> {
        let before = i.max(1) - 1;
        i.eq(0) | self.keys.at(i).ne(self.keys.at(before))
    }

    /// Whether a run ends at element `i` of `count`, which exists.
    fn is_end(&self, i: V<'b, 'c>, count: V<'b, 'c>) -> V<'b, 'c> {
        let last = count - 1;
        i.eq(last) | self.keys.at(i).ne(self.keys.at((i + 1).min(last)))
    }
}
