//! What each operation means, and what each kind of fault is reported for.
#![allow(missing_docs)]

mod algo;
mod arithmetic;
mod block;
mod control;
mod faults;
mod grid;
mod races;
mod subgroup;
mod support;
mod thin;
