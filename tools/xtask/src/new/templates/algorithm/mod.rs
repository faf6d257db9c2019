//! `qd.algo.the_name`: what it does, in one line.
//!
//! | strategy | where |
//! |---|---|
//! | `staircase` | everywhere |

mod staircase;

use super::{Algorithm, Strategy, always};

/// The line of the table.
pub(super) const THE_NAME: Algorithm = Algorithm {
    op: "qd.algo.the_name",
    strategies: &[Strategy {
        name: "staircase",
        suits: always,
        expand: |b, op, _| staircase::expand(b, op),
    }],
};
