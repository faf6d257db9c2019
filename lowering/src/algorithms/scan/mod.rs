//! `qd.algo.exclusive_scan` and `qd.algo.inclusive_scan`: combine all elements
//! before each, or up to each.
//!
//! | strategy | where |
//! |---|---|
//! | `fixed_order` | where `deterministic` fixes the order of floats, where look-back does not suit |
//! | `chunked` | on latency-oriented targets |
//! | `lookback` | on throughput-oriented targets with forward progress |
//! | `hierarchical` | everywhere |

/// Of `qd-bench`, which compiles it; here it is only seen by formatters.
#[cfg(false)]
mod bench;
mod lookback;
mod sweep;

use super::{
    Algorithm, Strategy, always, chain,
    fixed_order::{self, Shape},
    input_types, latency_oriented,
    levels::{Count, identity_if},
    sweep::Form,
};
use qd_dialects::{
    builder::{Builder, Combiner, V},
    ir::{Op, OpExt},
    ops::algo,
};

/// A line of the table.
pub(super) const EXCLUSIVE_SCAN: Algorithm = Algorithm {
    op: algo::ExclusiveScan::NAME,
    tunings: include_str!("tuning.json"),
    strategies: STRATEGIES,
};

/// A line of the table.
pub(super) const INCLUSIVE_SCAN: Algorithm = Algorithm {
    op: algo::InclusiveScan::NAME,
    tunings: include_str!("tuning.json"),
    strategies: STRATEGIES,
};

const LOOKBACK: Strategy = Strategy {
    name: "lookback",
    suits: |op, capabilities| chain::suits(capabilities) && lookback::fits(&input_types(op)),
    expand: lookback::expand,
};

const STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "fixed_order",
        suits: |op, capabilities| {
            let looks_back = (LOOKBACK.suits)(op, capabilities);
            fixed_order::applies(op, &combiner(op)) && !looks_back
        },
        expand: |b, op, _| {
            let shape = Shape::of(&input_types(op));
            sweep::expand(b, op, Form::FixedOrder(shape))
        },
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
];

/// The op's operands. K buffers of each kind, for a combiner over K scalars.
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
    /// Whether elements are combined in the fixed order.
    in_order: bool,
}

fn combiner<'c>(op: Op<'c>) -> Combiner<'c> {
    Combiner::of(op, &input_types(op))
}

impl<'b, 'c> Scan<'b, 'c> {
    fn of(b: &'b Builder<'c>, op: Op<'c>) -> Self {
        let scan = algo::Combine::cast(op);
        let inputs = b.vs(&scan.inputs());
        let inclusive = op.is(INCLUSIVE_SCAN.op);
        let outputs = b.vs(&scan.outputs());
        let buffers = inputs.iter().chain(&outputs).copied();
        let (count, depth) = (b.v(scan.count()), super::depth(op));
        Self {
            name: if inclusive {
                "inclusive_scan"
            } else {
                "exclusive_scan"
            },
            inclusive,
            scratch: b.vs(&scan.scratch()),
            count: Count::new(b, count, depth, buffers),
            in_order: fixed_order::applies(op, &combiner(op)),
            combiner: combiner(op),
            depth,
            inputs,
            outputs,
        }
    }

    /// Writes the result of element `i`.
    fn write(&self, i: V<'b, 'c>, scanned: &[V<'b, 'c>]) {
        let values = match self.inclusive {
            true => scanned.to_vec(),
            // The result of the first element is the identity.
            false => identity_if(|| i.eq(0), &self.combiner, scanned),
        };
        for (output, value) in self.outputs.iter().zip(values) {
            output.set(i, value);
        }
    }
}
