//! `qd.algo.partition`: flagged elements first, the others behind them.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on few cores |
//! | `lookback` | on many cores, where a block may wait for those before it |
//! | `staircase` | everywhere |

mod sweep;

use super::{
    Algorithm, Strategy, always,
    compact::Compact,
    few_cores,
    sweep::{Form, lookback},
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
            suits: |_, capabilities| lookback::suits(&[], capabilities),
            expand: |b, op, _| sweep::expand(b, op, Form::Lookback),
        },
        Strategy {
            name: "staircase",
            suits: always,
            expand: |b, op, _| sweep::expand(b, op, Form::Staircase),
        },
    ],
};
