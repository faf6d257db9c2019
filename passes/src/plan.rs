//! What launch planning knows: host expressions, memory accesses, hazards.
//!
//! - [`host`]: when two expressions that the host evaluates are equal;
//! - [`access`]: which buffers a step reads and writes, and which part of them;
//! - [`hazard`]: which step has to wait for which;
//! - [`order`]: which steps wait for which through others.

pub mod access;
pub mod hazard;
pub mod host;
pub mod order;
