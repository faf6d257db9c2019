//! Runs artifacts. The crate knows no IR: an artifact's launch plan has a kernel's
//! arguments and steps.
//!
//! Programs use [`objects`]; each kind of device has a driver below it. [`dispatch`] chooses among
//! kernels by measuring them.

mod argument;
mod control;
mod cpu;
mod cuda;
pub mod dispatch;
mod error;
mod hip;
pub mod objects;
mod program;
#[cfg(test)]
mod testing;
mod validate;
mod vulkan;

pub use argument::{Element, Scalar};
pub use error::{Error, FailedAssertion};
pub use qd_artifact::Dtype;
