//! `qd.algo.select`: keep the flagged elements.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on few cores |
//! | `staircase` | everywhere |

mod chunked;
mod staircase;

use super::{Algorithm, Strategy, always, compact::Compact, few_cores};

/// The line of the table.
pub(super) const SELECT: Algorithm = Algorithm {
    op: "qd.algo.select",
    strategies: &[
        Strategy {
            name: "chunked",
            suits: few_cores,
            expand: chunked::expand,
        },
        Strategy {
            name: "staircase",
            suits: always,
            expand: staircase::expand,
        },
    ],
};
