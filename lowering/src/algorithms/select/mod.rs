//! `qd.algo.select`: keep the flagged elements.
//!
//! | strategy | where |
//! |---|---|
//! | `staircase` | everywhere |

mod staircase;

use super::{Algorithm, Strategy, always, compact::Compact};

/// The line of the table.
pub(super) const SELECT: Algorithm = Algorithm {
    op: "qd.algo.select",
    strategies: &[Strategy {
        name: "staircase",
        suits: always,
        expand: staircase::expand,
    }],
};
