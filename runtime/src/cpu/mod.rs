//! The cpu: bodies are functions of this process, blocks are spread over host
//! threads.
//!
//! Modules are relocatable objects with a function per body (see
//! [`jit::Body`]). Launches run one after the other, in program order, which is
//! an order that their dependences allow.

mod device;
mod host;
mod jit;
mod pool;

#[cfg(test)]
mod tests;

pub(crate) use device::device;
