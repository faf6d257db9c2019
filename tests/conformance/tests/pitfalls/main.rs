//! What algorithms of other libraries are known to get wrong, a test for each
//! pitfall: targets against the interpreter. What takes a large device is in
//! `large.rs`.

mod conditions;
mod counts;
mod crowds;
mod edges;
mod equals;
mod kernel;
mod wide;
