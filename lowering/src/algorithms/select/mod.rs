//! `qd.algo.select`: keep the flagged elements.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on few cores |
//! | `lookback` | on many cores, where a block may wait for those before it, and the flags are `qd.scratch` |
//! | `reduce_then_scan` | on many cores on which it was measured |
//! | `hierarchical` | everywhere |
//!
//! Flags that are `qd.scratch` may be computed where they are read, from the
//! elements themselves: two passes would read those twice.

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
    ir::{Op, OpExt, ValueExt},
    melior::ir::BlockLike,
};

/// The line of the table.
pub(super) const SELECT: Algorithm = Algorithm {
    op: "qd.algo.select",
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
            // What a block does in one step is a hierarchy of one level.
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

/// Whether nobody sees the flags, which are an argument of the kernel.
fn has_scratch_flags(op: Op) -> bool {
    let argument = op.operand_values()[1].block_argument();
    argument.is_some_and(|(block, index)| {
        let kernel: Option<Op> = block.parent_operation();
        kernel.is_some_and(|kernel| argument_attributes::has(kernel, index, "qd.scratch"))
    })
}
