//! Known defects of other libraries' algorithms, a test for each pitfall:
//! targets, compared with the interpreter. Tests that take a large device are
//! in `large.rs`.

mod conditions;
mod counts;
mod crowds;
mod edges;
mod equals;
mod kernel;
mod wide;
