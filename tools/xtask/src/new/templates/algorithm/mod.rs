//! `qd.algo.the_name`: what it does, in one line.
//!
//! | strategy | where |
//! |---|---|
//! | `hierarchical` | everywhere |

/// Of `qd-bench`, which compiles it; here it is only seen by formatters.
#[cfg(false)]
mod bench;
mod hierarchical;

use super::{Algorithm, Strategy, always};

/// The line of the table.
pub(super) const THE_NAME: Algorithm = Algorithm {
    op: "qd.algo.the_name",
    tunings: "[]",
    strategies: &[Strategy {
        name: "hierarchical",
        suits: always,
        expand: |b, op, _| hierarchical::expand(b, op),
    }],
};
