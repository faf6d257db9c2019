//! `qd.algo.partition`: flagged elements first, the others behind them.
//!
//! | strategy | where |
//! |---|---|
//! | `staircase` | everywhere |

mod staircase;

use super::{Algorithm, Strategy, always, compact::Compact};

/// The line of the table.
pub(super) const PARTITION: Algorithm = Algorithm {
    op: "qd.algo.partition",
    strategies: &[Strategy {
        name: "staircase",
        suits: always,
        expand: staircase::expand,
    }],
};
