//! Whether this process is a copy of the one that opened the devices: drivers do not
//! survive `fork`.

use crate::Error;
use std::sync::{
    Once,
    atomic::{AtomicBool, Ordering},
};

static IS_FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn note() {
    IS_FORKED.store(true, Ordering::Relaxed);
}

/// From now on a copy of this process knows that it is one.
pub(super) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Safety: the handler stores a flag.
        unsafe { libc::pthread_atfork(None, None, Some(note)) };
    });
}

/// An error in a copy.
pub(super) fn check() -> Result<(), Error> {
    match IS_FORKED.load(Ordering::Relaxed) {
        false => Ok(()),
        true => Err(Error::Forked),
    }
}
