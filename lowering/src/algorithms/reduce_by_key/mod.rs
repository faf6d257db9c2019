//! `qd.algo.reduce_by_key`: combine the values of each run of equal keys.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on latency-oriented targets |
//! | `lookback` | on throughput-oriented targets with forward progress |
//! | `hierarchical` | everywhere |
//!
//! No strategy uses atomics: a region combiner need not commute, and float sums
//! are to depend on the input alone.

/// Of `qd-bench`, which compiles it; here it is only seen by formatters.
#[cfg(false)]
mod bench;
mod lookback;
mod sweep;

use super::{Algorithm, Strategy, always, chain, latency_oriented, levels::Count, sweep::Form};
use qd_dialects::{
    builder::{Builder, Combiner, V},
    ir::Op,
    ops::algo,
};

/// The line of the table.
pub(super) const REDUCE_BY_KEY: Algorithm = Algorithm {
    op: algo::ReduceByKey::NAME,
    tunings: include_str!("tuning.json"),
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

/// The op's operands.
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
        let said = algo::ReduceByKey::cast(op);
        let (keys, values) = (b.v(said.keys()), b.v(said.values()));
        let (keys_out, values_out) = (b.v(said.keys_out()), b.v(said.values_out()));
        let depth = super::depth(op);
        let buffers = [keys, values, keys_out, values_out].into_iter();
        Self {
            keys,
            values,
            keys_out,
            values_out,
            num_runs: b.v(said.num_runs()),
            scratch: b.v(said.scratch()),
            count: Count::new(b, b.v(said.count()), depth, buffers),
            combiner: Combiner::of(op, &[values.element()]),
            depth,
            deterministic: super::deterministic(op),
        }
    }

    /// Whether a run begins at element `i`, which exists: its key differs from
    /// the one before. A NaN differs from every key.
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
