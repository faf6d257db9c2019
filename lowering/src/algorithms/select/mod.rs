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
    Algorithm, Strategy, always,
    compact::Compact,
    few_cores,
    sweep::{Form, lookback},
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
