//! `qd.algo.partition`: flagged elements first, the others behind them.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on few cores |
//! | `reduce_then_scan` | on many cores on which it was measured |
//! | `hierarchical` | everywhere |

mod sweep;

use super::{
    Algorithm, Strategy, always,
    compact::{
        Compact,
        reduce_then_scan::{self, Others},
    },
    depth, latency_oriented,
    sweep::Form,
};

/// The line of the table.
pub(super) const PARTITION: Algorithm = Algorithm {
    op: "qd.algo.partition",
    strategies: &[
        Strategy {
            name: "chunked",
            suits: latency_oriented,
            expand: |b, op, _| sweep::expand(b, op, Form::Chunked),
        },
        Strategy {
            name: "reduce_then_scan",
            suits: |_, capabilities| reduce_then_scan::suits(capabilities),
            // What a block does in one step is a hierarchy of one level.
            expand: |b, op, capabilities| match depth(op) {
                1 => sweep::expand(b, op, Form::Hierarchical),
                _ => reduce_then_scan::expand(b, op, capabilities, "partition", Others::Behind),
            },
        },
        Strategy {
            name: "hierarchical",
            suits: always,
            expand: |b, op, _| sweep::expand(b, op, Form::Hierarchical),
        },
    ],
};
