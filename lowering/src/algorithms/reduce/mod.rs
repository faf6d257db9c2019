//! `qd.algo.reduce`: combine the first n elements of a buffer.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on few cores |
//! | `tiled` | on many cores, with shared memory enough where order matters |
//! | `hierarchical` | everywhere |

mod chunked;
mod hierarchical;
mod tiled;

use super::{
    Algorithm, Strategy, always, input_types, latency_oriented,
    levels::{Count, identity_if},
};
use qd_dialects::{
    builder::{Builder, Combiner, V},
    ir::{Op, OpExt},
};

/// The line of the table.
pub(super) const REDUCE: Algorithm = Algorithm {
    op: "qd.algo.reduce",
    strategies: &[
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

/// What the op says. K buffers of each kind, for a combiner over K scalars.
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
        let segments = op.operand_segments();
        let inputs = b.vs(&segments[0]);
        let types: Vec<_> = inputs.iter().map(|input| input.element()).collect();
        let (count, depth) = (b.v(segments[3][0]), super::depth(op));
        Self {
            outputs: b.vs(&segments[1]),
            scratch: b.vs(&segments[2]),
            count: Count::new(b, count, depth, inputs.iter().copied()),
            combiner: Combiner::of(op, &types),
            depth,
            inputs,
        }
    }

    /// Writes what `count` elements come to; by one thread.
    fn write(&self, count: V<'b, 'c>, sum: &[V<'b, 'c>]) {
        let result = identity_if(|| count.eq(0), &self.combiner, sum);
        for (output, value) in self.outputs.iter().zip(result) {
            output.set_first(value);
        }
    }
}
