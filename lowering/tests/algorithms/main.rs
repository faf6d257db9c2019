//! Every expansion, compared with the algorithm's definition: the interpreter
//! runs the kernel as it is and as it is expanded, on the same data.
//!
//! Scratch has exactly the slots that the formula gives for the live count, and
//! is uninitialised. An access one slot beyond is a fault, as is a race between
//! threads.
#![allow(missing_docs)]

mod by_key;
mod combine;
mod compaction;
mod counts;
mod data;
mod forms;
mod fusion;
mod halves;
#[path = "../forms/known.rs"]
mod known;
#[path = "../forms/mod.rs"]
mod listed;
mod shape;
mod sizing;
mod sort;
mod support;
mod timing;
