//! Tasks that are tried again until they succeed. `tests/interleavings.rs` tries all interleavings
//! of threads on them.

use super::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// Does something if it can be done, and says whether it was.
pub type Task = Box<dyn FnMut() -> bool + Send>;

/// Tasks of all threads.
#[derive(Default)]
pub struct Tasks {
    waiting: Mutex<Vec<Task>>,
    /// Whether there is any, as the last thread that locked them has said: most that try look at
    /// this alone.
    is_any: AtomicBool,
}

impl Tasks {
    /// Has a later try do something.
    pub fn later(&self, task: Task) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(task);
        self.is_any.store(true, Ordering::Relaxed);
    }

    /// Tries what waits. The caller holds no lock.
    pub fn now(&self) {
        if !self.is_any.load(Ordering::Relaxed) {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_any.store(false, Ordering::Relaxed);
        let tasks = std::mem::take(&mut *waiting);
        drop(waiting);
        for mut task in tasks {
            // It may put others there.
            if !task() {
                self.later(task);
            }
        }
    }
}
