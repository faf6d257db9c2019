//! Device algorithms, conversions to targets, and emission.
//!
//! - [`algorithms`]: each device algorithm, one folder, by strategy;
//! - `convert`: `qd_to_<target>`, one file each;
//! - [`targets`]: capabilities and emission.

pub mod algorithms;
pub mod convert;
pub mod emit;
pub mod pipelines;
pub mod targets;

pub use emit::{CompileError, Emit, compile, draw, reflect, translate};

/// Makes every pass and pipeline of this crate reachable by name. Once a
/// process.
pub fn register() {
    algorithms::register();
    convert::register();
    pipelines::register();
}
