//! What a SPIR-V module says of itself: reflection, and readable text.
//!
//! Knows nothing of how modules are made. What makes them and what runs them
//! meet in `docs/rationale/vulkan.md`, which [`Reflection::check`] holds a module
//! against.

mod disassemble;
mod names;
mod reflect;
#[cfg(test)]
mod sample;
mod sizes;

pub use disassemble::disassemble;
pub use reflect::{Binding, EntryPoint, ModuleError, Reflection};
