//! `qd.algo.select`: keep the flagged elements.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on latency-oriented targets |
//! | `lookback` | on throughput-oriented targets with forward progress, where the flags are `qd.scratch` |
//! | `reduce_then_scan` | on throughput-oriented targets with a measured tuning |
//! | `hierarchical` | everywhere |
//!
//! Flags that are `qd.scratch` may be recomputed from the elements where they are read: two passes
//! would read the elements twice.

/// Of `qd-bench`, which compiles it; here it is only seen by formatters.
#[cfg(false)]
mod bench;
mod chunked;
mod lookback;
mod sweep;

use super::{
    Algorithm, Strategy, always, chain,
    compact::{
        Compact,
        reduce_then_scan::{self, Others},
    },
    depth, latency_oriented,
};
use qd_dialects::{
    argument_attributes,
    attributes::names,
    ir::{Op, ValueExt},
    ops::algo,
};

/// The line of the table.
pub(super) const SELECT: Algorithm = Algorithm {
    op: algo::Select::NAME,
    tunings: include_str!("tuning.json"),
    strategies: &[
        Strategy {
            name: "chunked",
            suits: latency_oriented,
            expand: |b, op, _| chunked::expand(b, op),
        },
        Strategy {
            name: "lookback",
            suits: |op, capabilities| chain::suits(capabilities) && has_scratch_flags(op),
            expand: lookback::expand,
        },
        Strategy {
            name: "reduce_then_scan",
            suits: |_, capabilities| reduce_then_scan::suits(capabilities),
            // What one block does in one step is a hierarchy of one level.
            expand: |b, op, capabilities| match depth(op) {
                1 => sweep::expand(b, op),
                _ => reduce_then_scan::expand(b, op, capabilities, "select", Others::Dropped),
            },
        },
        Strategy {
            name: "hierarchical",
            suits: always,
            expand: |b, op, _| sweep::expand(b, op),
        },
    ],
};

/// Whether the flags are an argument of the kernel that no caller sees.
fn has_scratch_flags(op: Op) -> bool {
    let argument = algo::Select::cast(op).flags().block_argument();
    argument.is_some_and(|(block, index)| {
        let kernel: Option<Op> = block.parent_operation();
        kernel.is_some_and(|kernel| argument_attributes::has(kernel, index, names::SCRATCH))
    })
}
