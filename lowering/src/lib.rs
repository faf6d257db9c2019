//! Device algorithms, conversions to targets, and emission.
//!
//! - [`algorithms`]: each device algorithm, one folder, by strategy;
//! - `convert`: `qd_to_<target>`, one file each;
//! - [`select`](mod@select): the search for subgroup sizes and forms;
//! - [`targets`]: capabilities and emission.

pub mod algorithms;
pub mod convert;
pub mod emit;
pub mod expand;
mod kernels;
mod machine;
pub mod pipelines;
pub mod select;
pub mod targets;
mod units;

pub use emit::{
    CompileError, Emit, KeptCode, Stages, compile, compile_timed, draw, reflect, translate,
};
pub use kernels::{UnknownKernel, select};
pub use machine::this_machine;
pub use qd_artifact::{Host, Machine, Options};
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
        select::register();
    });
}
