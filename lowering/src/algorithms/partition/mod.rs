//! `qd.algo.partition`: flagged elements first, the others behind them.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on few cores |
//! | `lookback` | on many cores, where a block may wait for those before it |
//! | `staircase` | everywhere |

mod sweep;

use super::{
    Algorithm, Strategy, always, chain,
    compact::{self, Compact, lookback::Others},
    depth, few_cores,
    sweep::Form,
};

/// The line of the table.
pub(super) const PARTITION: Algorithm = Algorithm {
    op: "qd.algo.partition",
    strategies: &[
        Strategy {
            name: "chunked",
            suits: few_cores,
            expand: |b, op, _| sweep::expand(b, op, Form::Chunked),
        },
        Strategy {
            name: "lookback",
            suits: |_, capabilities| chain::suits(capabilities),
            // What a block does in one step is a staircase of one.
            expand: |b, op, capabilities| match depth(op) {
                1 => sweep::expand(b, op, Form::Staircase),
                _ => compact::lookback::expand(b, op, capabilities, "partition", Others::Behind),
            },
        },
        Strategy {
            name: "staircase",
            suits: always,
            expand: |b, op, _| sweep::expand(b, op, Form::Staircase),
        },
    ],
};
