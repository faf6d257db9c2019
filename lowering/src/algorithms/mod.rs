//! Device algorithms by strategy.

/// Makes the expansion passes reachable by name.
pub fn register() {}
