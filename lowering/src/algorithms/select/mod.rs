//! `qd.algo.select`: keep the flagged elements.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on few cores |
//! | `lookback` | on many cores, where a block may wait for those before it |
//! | `staircase` | everywhere |

mod chunked;
mod sweep;

use super::{
    Algorithm, Strategy, always, chain,
    compact::{self, Compact, lookback::Others},
    depth, few_cores,
};

/// The line of the table.
pub(super) const SELECT: Algorithm = Algorithm {
    op: "qd.algo.select",
    strategies: &[
        Strategy {
            name: "chunked",
            suits: few_cores,
            expand: |b, op, _| chunked::expand(b, op),
        },
        Strategy {
            name: "lookback",
            suits: |_, capabilities| chain::suits(capabilities),
            // What a block does in one step is a staircase of one.
            expand: |b, op, capabilities| match depth(op) {
                1 => sweep::expand(b, op),
                _ => compact::lookback::expand(b, op, capabilities, "select", Others::Dropped),
            },
        },
        Strategy {
            name: "staircase",
            suits: always,
            expand: |b, op, _| sweep::expand(b, op),
        },
    ],
};
