//! Synchronisation primitives. `tests/interleavings.rs` uses loom's instead.

pub use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, atomic};
