//! The idea, phase by phase. Portable: no block waits for another.
//!
//! Paper: author, title, year, section.
//! Deviations: what is done otherwise here, and why.
//! Cost: what is read and written per element, and how many phases.

use qd_dialects::{
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::Op,
};

/// Builds the phases.
pub(super) fn expand<'c>(_: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    Err(Diagnostic::at(
        op,
        "is not expanded yet: lowering/src/algorithms/the_name/hierarchical.rs",
    ))
}
