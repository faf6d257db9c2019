//! Every expansion against what the algorithm means: the interpreter runs the
//! kernel as it is and as it is expanded, on the same data.
//!
//! Scratch has exactly the slots the formula gives for the live count, holds
//! nothing, and one slot beyond is a fault, as is a race between threads.
#![allow(missing_docs)]

mod by_key;
mod combine;
mod compaction;
mod counts;
mod data;
mod fusion;
mod halves;
mod shape;
mod sizing;
mod sort;
mod support;
mod timing;
