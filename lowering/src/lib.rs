//! Device algorithms, conversions to targets, and emission.
//!
//! - [`algorithms`]: each device algorithm, one folder, by strategy;
//! - `convert`: `qd_to_<target>`, one file each;
//! - [`targets`]: capabilities and emission.

pub mod algorithms;
pub mod convert;
pub mod emit;
pub mod expand;
mod options;
pub mod pipelines;
mod select;
pub mod targets;
mod units;

pub use emit::{CompileError, Emit, compile, draw, reflect, translate};
pub use options::{Host, Options};
pub use select::{UnknownKernel, select};
pub use units::{Unit, units};

use std::sync::Once;

/// Makes every pass and pipeline of ours reachable by name, those of `qd_passes` too. Does so
/// once a process, however often it is called.
pub fn register() {
    static ONCE: Once = Once::new();
    qd_passes::register();
    ONCE.call_once(|| {
        algorithms::register();
        convert::register();
        expand::register();
        pipelines::register();
    });
}
