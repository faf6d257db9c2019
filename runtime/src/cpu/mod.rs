//! The cpu: bodies are functions of this process, and host threads share the
//! blocks of a launch.
//!
//! Modules are relocatable objects with a function per body (see
//! [`link::Body`]). Launches run one after the other, in program order, which
//! satisfies their dependencies.

mod device;
mod host;
mod link;
mod pool;
mod relocate;

#[cfg(test)]
mod tests;

pub(crate) use device::device;
