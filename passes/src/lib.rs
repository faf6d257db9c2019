//! Target-neutral rewriting: verification, planning, tiling, expansion.
//!
//! One file per pass, one line here to register it.

/// Makes every pass of this crate reachable by name. Once a process.
pub fn register() {}
