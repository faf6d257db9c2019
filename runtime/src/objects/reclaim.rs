//! Deferred releases: after work in progress, or by a thread that may call the driver. Each
//! later call tries them again.

use super::tasks::{Task, Tasks};
use std::sync::LazyLock;

static TASKS: LazyLock<Tasks> = LazyLock::new(Tasks::default);

/// Lets something go in a later call, if it can be then.
pub(crate) fn later(task: Task) {
    TASKS.later(task);
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
    TASKS.now();
}
