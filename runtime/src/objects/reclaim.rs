//! What can only be let go later: behind work that is under way, or by a thread that may call
//! the driver. Each of the calls that follow tries again.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// Lets something go if it can be, and says whether it did.
pub(crate) type Task = Box<dyn FnMut() -> bool + Send>;

static WAITING: Mutex<Vec<Task>> = Mutex::new(Vec::new());
/// Whether there is anything: most calls look at this alone.
static IS_ANY: AtomicBool = AtomicBool::new(false);

/// Does so in a later call.
pub(crate) fn later(task: Task) {
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.push(task);
    IS_ANY.store(true, Ordering::Release);
}

/// Drops something in a later call.
pub(crate) fn drop_later(what: Box<dyn Send + Sync>) {
    let mut what = Some(what);
    later(Box::new(move || {
        what.take();
        true
    }));
}

/// Tries what waits. The caller holds no lock.
pub(super) fn now() {
    if !IS_ANY.load(Ordering::Relaxed) || !IS_ANY.swap(false, Ordering::Acquire) {
        return;
    }
    let tasks = std::mem::take(&mut *WAITING.lock().unwrap_or_else(PoisonError::into_inner));
    for mut task in tasks {
        // It may put others there.
        if !task() {
            later(task);
        }
    }
}
