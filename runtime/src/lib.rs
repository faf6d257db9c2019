//! Runs artifacts. Knows no IR: what a kernel takes and what is done to run it
//! is the artifact's launch plan.
//!
//! What people build on is in [`objects`]; each kind of device has a driver below it.

mod argument;
mod control;
mod cpu;
mod cuda;
mod error;
pub mod objects;
mod program;
#[cfg(test)]
mod testing;
mod validate;
mod vulkan;

pub use argument::{Element, Scalar};
pub use error::Error;
pub use qd_artifact::Dtype;
