//! `qd.algo.exclusive_scan` and `qd.algo.inclusive_scan`: combine all elements
//! before each, or up to each.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on few cores |
//! | `lookback` | on many cores, where a block may wait for those before it |
//! | `hierarchical` | everywhere |

mod lookback;
mod sweep;

use super::{
    Algorithm, Strategy, always, chain, input_types, latency_oriented,
    levels::{Count, identity_if},
    sweep::Form,
};
use qd_dialects::{
    builder::{Builder, Combiner, V},
    ir::{Op, OpExt},
};

/// A line of the table.
pub(super) const EXCLUSIVE_SCAN: Algorithm = Algorithm {
    op: "qd.algo.exclusive_scan",
    strategies: STRATEGIES,
};

/// A line of the table.
pub(super) const INCLUSIVE_SCAN: Algorithm = Algorithm {
    op: "qd.algo.inclusive_scan",
    strategies: STRATEGIES,
};

const STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "chunked",
        suits: latency_oriented,
        expand: |b, op, _| sweep::expand(b, op, Form::Chunked),
    },
    Strategy {
        name: "lookback",
        suits: |op, capabilities| chain::suits(capabilities) && lookback::fits(&input_types(op)),
        expand: lookback::expand,
    },
    Strategy {
        name: "hierarchical",
        suits: always,
        expand: |b, op, _| sweep::expand(b, op, Form::Hierarchical),
    },
];

/// What the op says. K buffers of each kind, for a combiner over K scalars.
struct Scan<'b, 'c> {
    /// `exclusive_scan` or `inclusive_scan`.
    name: &'static str,
    inclusive: bool,
    inputs: Vec<V<'b, 'c>>,
    outputs: Vec<V<'b, 'c>>,
    scratch: Vec<V<'b, 'c>>,
    count: Count<'b, 'c>,
    combiner: Combiner<'c>,
    depth: u32,
    deterministic: bool,
}

impl<'b, 'c> Scan<'b, 'c> {
    fn of(b: &'b Builder<'c>, op: Op<'c>) -> Self {
        let segments = op.operand_segments();
        let inputs = b.vs(&segments[0]);
        let types: Vec<_> = inputs.iter().map(|input| input.element()).collect();
        let inclusive = op.is(INCLUSIVE_SCAN.op);
        let outputs = b.vs(&segments[1]);
        let buffers = inputs.iter().chain(&outputs).copied();
        let (count, depth) = (b.v(segments[3][0]), super::depth(op));
        Self {
            name: if inclusive {
                "inclusive_scan"
            } else {
                "exclusive_scan"
            },
            inclusive,
            scratch: b.vs(&segments[2]),
            count: Count::new(b, count, depth, buffers),
            combiner: Combiner::of(op, &types),
            depth,
            deterministic: super::deterministic(op),
            inputs,
            outputs,
        }
    }

    /// Writes what belongs to element `i`.
    fn write(&self, i: V<'b, 'c>, scanned: &[V<'b, 'c>]) {
        let values = match self.inclusive {
            true => scanned.to_vec(),
            // Before the first there is nothing.
            false => identity_if(|| i.eq(0), &self.combiner, scanned),
        };
        for (output, value) in self.outputs.iter().zip(values) {
            output.set(i, value);
        }
    }
}
