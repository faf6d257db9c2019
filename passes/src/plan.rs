//! The analyses of launch planning: host expressions, memory accesses, hazards.
//!
//! - [`host`]: when two expressions that the host evaluates are equal;
//! - [`access`]: which buffers a step reads and writes, and which part of them;
//! - [`hazard`]: the dependencies of steps;
//! - [`order`]: the transitive closure of the dependencies.

pub mod access;
pub mod hazard;
pub mod host;
pub mod order;
