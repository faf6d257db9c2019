//! `qd.algo.reduce_by_key`: combine the values of each run of equal keys.
//!
//! | strategy | where |
//! |---|---|
//! | `fixed_order` | where `deterministic` fixes the order of floats, where look-back does not suit |
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

use super::{
    Algorithm, Strategy, always, chain,
    fixed_order::{self, Shape},
    latency_oriented,
    levels::Count,
    sweep::Form,
    tiles::store,
};
use qd_dialects::{
    builder::{Builder, Combiner, V},
    ir::{Op, element_type},
    melior::ir::{Type, ValueLike},
    ops::algo,
};

const LOOKBACK: Strategy = Strategy {
    name: "lookback",
    suits: |op, capabilities| lookback::fits(op) && chain::suits(capabilities),
    expand: lookback::expand,
};

/// The line of the table.
pub(super) const REDUCE_BY_KEY: Algorithm = Algorithm {
    op: algo::ReduceByKey::NAME,
    tunings: include_str!("tuning.json"),
    strategies: &[
        Strategy {
            name: "fixed_order",
            suits: |op, capabilities| {
                let looks_back = (LOOKBACK.suits)(op, capabilities);
                fixed_order::applies(op, &combiner(op)) && !looks_back
            },
            expand: |b, op, _| sweep::expand(b, op, Form::FixedOrder(shape(op))),
        },
        Strategy {
            name: "chunked",
            suits: latency_oriented,
            expand: |b, op, _| sweep::expand(b, op, Form::Chunked),
        },
        LOOKBACK,
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
    values: Vec<V<'b, 'c>>,
    keys_out: V<'b, 'c>,
    values_out: Vec<V<'b, 'c>>,
    num_runs: V<'b, 'c>,
    scratch: V<'b, 'c>,
    count: Count<'b, 'c>,
    combiner: Combiner<'c>,
    depth: u32,
    /// Whether values are combined in the fixed order.
    in_order: bool,
}

/// What combines the values.
fn combiner<'c>(op: Op<'c>) -> Combiner<'c> {
    Combiner::of(op, &types(op)[1..])
}

/// What an element holds: a key and its values.
fn types<'c>(op: Op<'c>) -> Vec<Type<'c>> {
    let op = algo::ReduceByKey::cast(op);
    let buffers = std::iter::once(op.keys()).chain(op.values());
    buffers
        .filter_map(|buffer| element_type(buffer.r#type()))
        .collect()
}

/// The tiles of the fixed order.
fn shape(op: Op) -> Shape {
    Shape::of(&types(op))
}

impl<'b, 'c> ReduceByKey<'b, 'c> {
    fn of(b: &'b Builder<'c>, op: Op<'c>) -> Self {
        let said = algo::ReduceByKey::cast(op);
        let (keys, values) = (b.v(said.keys()), b.vs(&said.values()));
        let (keys_out, values_out) = (b.v(said.keys_out()), b.vs(&said.values_out()));
        let depth = super::depth(op);
        let ins = std::iter::once(keys).chain(values.iter().copied());
        let outs = std::iter::once(keys_out).chain(values_out.iter().copied());
        Self {
            count: Count::new(b, b.v(said.count()), depth, ins.chain(outs)),
            keys,
            values,
            keys_out,
            values_out,
            num_runs: b.v(said.num_runs()),
            scratch: b.v(said.scratch()),
            combiner: combiner(op),
            depth,
            in_order: fixed_order::applies(op, &combiner(op)),
        }
    }

    /// Whether a run begins at element `i`, which exists: its key differs from
    /// the one before. A NaN differs from every key.
    fn is_head(&self, i: V<'b, 'c>) -> V<'b, 'c> {
        let before = i.max(1) - 1;
        i.eq(0) | self.keys.at(i).ne(self.keys.at(before))
    }

    /// Whether a run ends at element `i` of `count`, which exists, and is not the last
    /// run.
    fn is_end(&self, i: V<'b, 'c>, count: V<'b, 'c>) -> V<'b, 'c> {
        self.keys.at(i).ne(self.keys.at((i + 1).min(count - 1)))
    }

    /// Writes the number of runs and the last run's values; run by one thread.
    fn end(&self, all: &[V<'b, 'c>]) {
        let (runs, open) = (all[0], &all[1..]);
        self.num_runs.set_first(runs);
        runs.builder().if_(runs.ne(0), || {
            store(&self.values_out, runs.to_index() - 1, open);
        });
    }
}
