//! What threads share, here. `tests/interleavings.rs` has loom's instead.

pub use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, atomic};
