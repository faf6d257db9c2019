//! What the compiler is asked and answers, as plain data, and what it has answered before: a process that
//! finds all of that in a store needs no compiler. This crate links no LLVM.
//!
//! `qd_frontend` compiles, and exports what users need of this.

pub mod cut;
mod diagnostic;
mod find;
mod identity;
pub mod key;
mod outcome;
mod record;
mod request;
mod source;

pub use diagnostic::{Diagnostic, Diagnostics, Stage};
pub use find::{
    Job, Plan, find, find_all, find_stored, joined, keep, keep_valid, kernel_names, no_kernel,
    put_valid,
};
pub use identity::sources;
pub use outcome::{Origin, Outcome};
pub use request::{CompileRequest, distinct};
pub use source::{ModuleBytes, Source};
