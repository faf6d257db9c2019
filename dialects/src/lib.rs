//! The `qd` dialect for Rust: a safe layer over MLIR.
//!
//! - [`ir`]: handles to operations, values and blocks, and how to change them;
//! - [`interfaces`], [`algorithm`]: op interfaces;
//! - [`scratch`]: how much scratch algorithms need;
//! - [`clone`]: copying code with its operands replaced;
//! - [`ops`]: a typed handle for each of our ops, made from their ODS;
//! - [`pass`], [`pattern`]: passes, rewrite patterns and canonical forms in safe Rust;
//! - [`canonical`]: the canonical forms that are written in Rust;
//! - [`builder`]: the kernel builder, in which a body reads like a kernel;
//! - [`parse`]: modules from files;
//! - [`report`]: diagnostics as plain data and as text;
//! - [`tools`]: the drivers behind `qd-opt`, `qd-lsp-server`, `qd-reduce` and
//!   `qd-query`;
//! - [`mod@plugin`]: the dialect and passes for an `mlir-opt` without them.
//!
//! No other crate holds a raw `Mlir*` handle.

pub mod algorithm;
pub mod argument_attributes;
pub mod attributes;
pub mod builder;
pub mod canonical;
pub mod clone;
pub mod diagnostic;
pub mod interfaces;
pub mod ir;
pub mod llvm;
pub mod ops;
pub mod parse;
pub mod pass;
pub mod pattern;
pub mod plugin;
pub mod report;
pub mod scratch;
pub mod serialize;
mod spans;
pub mod tools;

use melior::dialect::{DialectHandle, DialectRegistry};

pub use melior;

/// The handle of the `qd` dialect.
pub fn dialect() -> DialectHandle {
    // Safety: the shim returns a handle to static data.
    unsafe { DialectHandle::from_raw(qd_sys::qdDialectHandle()) }
}

/// The handle of upstream's `math`, which `melior` does not name.
pub fn math_dialect() -> DialectHandle {
    // Safety: the C API returns a handle to static data.
    unsafe { DialectHandle::from_raw(mlir_sys::mlirGetDialectHandle__math__()) }
}

/// The handle of upstream's `spirv`, which `melior` does not name.
pub fn spirv_dialect() -> DialectHandle {
    // Safety: the C API returns a handle to static data.
    unsafe { DialectHandle::from_raw(mlir_sys::mlirGetDialectHandle__spirv__()) }
}

/// A registry of every upstream dialect and ours, canonical forms included.
pub fn registry() -> DialectRegistry {
    canonical::register();
    let registry = DialectRegistry::new();
    melior::utility::register_all_dialects(&registry);
    dialect().insert_dialect(&registry);
    registry
}

/// A context that knows every upstream dialect and ours. Dialects are loaded
/// as they are met.
pub fn context() -> melior::Context {
    let context = melior::Context::new();
    context.append_dialect_registry(&registry());
    context.get_or_load_dialect("qd");
    context
}
