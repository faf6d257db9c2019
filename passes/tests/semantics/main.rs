//! Passes preserve semantics: the interpreter runs their input and their output
//! on the same data at every subgroup size.
#![allow(missing_docs)]

mod block;
mod math;
mod plan;
mod proofs;
mod subgroup;
mod support;
mod uniformity;
