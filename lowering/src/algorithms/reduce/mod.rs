//! `qd.algo.reduce`: combine the first n elements of a buffer.
//!
//! | strategy | where |
//! |---|---|
//! | `fixed_order` | where `deterministic` fixes the order of floats |
//! | `chunked` | on latency-oriented targets |
//! | `tiled` | on throughput-oriented targets, with shared memory enough where order matters |
//! | `hierarchical` | everywhere |

/// Of `qd-bench`, which compiles it; here it is only seen by formatters.
#[cfg(false)]
mod bench;
mod chunked;
mod fixed_order;
mod hierarchical;
mod tiled;

use super::{
    Algorithm, Strategy, always, fixed_order as order, input_types, latency_oriented,
    levels::{Count, identity_if},
};
use qd_dialects::{
    builder::{Builder, Combiner, V},
    ir::Op,
    ops::algo,
};

/// The line of the table.
pub(super) const REDUCE: Algorithm = Algorithm {
    op: algo::Reduce::NAME,
    tunings: include_str!("tuning.json"),
    strategies: &[
        Strategy {
            name: "fixed_order",
            suits: |op, _| order::applies(op, &Combiner::of(op, &input_types(op))),
            expand: fixed_order::expand,
        },
        Strategy {
            name: "chunked",
            suits: latency_oriented,
            expand: |b, op, _| chunked::expand(b, op),
        },
        Strategy {
            name: "tiled",
            suits: |op, capabilities| tiled::suits(op, &input_types(op), capabilities),
            expand: tiled::expand,
        },
        Strategy {
            name: "hierarchical",
            suits: always,
            expand: |b, op, _| hierarchical::expand(b, op),
        },
    ],
};

/// The op's operands. K buffers of each kind, for a combiner over K scalars.
struct Reduce<'b, 'c> {
    inputs: Vec<V<'b, 'c>>,
    outputs: Vec<V<'b, 'c>>,
    scratch: Vec<V<'b, 'c>>,
    count: Count<'b, 'c>,
    combiner: Combiner<'c>,
    depth: u32,
}

impl<'b, 'c> Reduce<'b, 'c> {
    fn of(b: &'b Builder<'c>, op: Op<'c>) -> Self {
        let reduce = algo::Reduce::cast(op);
        let inputs = b.vs(&reduce.inputs());
        let types: Vec<_> = inputs.iter().map(|input| input.element()).collect();
        let (count, depth) = (b.v(reduce.count()), super::depth(op));
        Self {
            outputs: b.vs(&reduce.outputs()),
            scratch: b.vs(&reduce.scratch()),
            count: Count::new(b, count, depth, inputs.iter().copied()),
            combiner: Combiner::of(op, &types),
            depth,
            inputs,
        }
    }

    /// Writes the result of `count` elements; run by one thread.
    fn write(&self, count: V<'b, 'c>, sum: &[V<'b, 'c>]) {
        let result = identity_if(|| count.eq(0), &self.combiner, sum);
        for (output, value) in self.outputs.iter().zip(result) {
            output.set_first(value);
        }
    }
}
