//! `qd.algo.partition`: flagged elements first, the others after them.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on latency-oriented targets |
//! | `reduce_then_scan` | on throughput-oriented targets with a measured tuning |
//! | `hierarchical` | everywhere |

/// Of `qd-bench`, which compiles it; here it is only seen by formatters.
#[cfg(false)]
mod bench;
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
use qd_dialects::ops::algo;

/// The line of the table.
pub(super) const PARTITION: Algorithm = Algorithm {
    op: algo::Partition::NAME,
    tunings: include_str!("tuning.json"),
    strategies: &[
        Strategy {
            name: "chunked",
            suits: latency_oriented,
            expand: |b, op, _| sweep::expand(b, op, Form::Chunked),
        },
        Strategy {
            name: "reduce_then_scan",
            suits: |_, capabilities| reduce_then_scan::suits(capabilities),
            // What one block does in one step is a hierarchy of one level.
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
