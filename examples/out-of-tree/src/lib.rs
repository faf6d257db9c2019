//! Passes of our own, kept outside of `qd`'s repository.

/// Makes every pass and pipeline of this crate reachable by name. Once a
/// process.
pub fn register() {}
