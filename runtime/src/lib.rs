//! Runs artifacts. Knows no IR: what a kernel takes and what is done to run it
//! is the artifact's launch plan.
//!
//! A [`Driver`] loads an artifact onto a device, and what is [`Loaded`] runs
//! kernels by name on [`Argument`]s. There is one driver per target.

mod actions;
mod argument;
mod buffer;
mod control;
mod cpu;
mod cuda;
mod driver;
mod error;
pub mod objects;
mod program;
#[cfg(test)]
mod testing;
mod validate;
mod vulkan;

pub use argument::{Argument, Scalar, check};
pub use buffer::{Buffer, Element};
pub use driver::{Driver, Loaded, Options, Prepared, StepTime, Timing, driver, resolve};
pub use error::Error;
pub use qd_artifact::Dtype;
