//! `qd.algo.partition`: flagged elements first, the others behind them.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on few cores |
//! | `staircase` | everywhere |

mod sweep;

use super::{Algorithm, Strategy, always, compact::Compact, few_cores, sweep::Form};

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
            name: "staircase",
            suits: always,
            expand: |b, op, _| sweep::expand(b, op, Form::Staircase),
        },
    ],
};
