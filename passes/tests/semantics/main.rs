//! What a pass changes nothing about: its input and its output, interpreted on
//! the same data at every subgroup size.
#![allow(missing_docs)]

mod block;
mod math;
mod plan;
mod subgroup;
mod support;
mod uniformity;
