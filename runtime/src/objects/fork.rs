//! Whether this process is a copy, by `fork`, of the one that opened the devices: drivers do
//! not survive `fork`. In a copy calls are errors, and drops do not call a driver.

use crate::Error;
use std::{
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    sync::{
        Arc, Once,
        atomic::{AtomicBool, Ordering},
    },
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

/// Whether this is a copy.
pub(super) fn is_copy() -> bool {
    IS_FORKED.load(Ordering::Relaxed)
}

/// An error in a copy.
pub(super) fn check() -> Result<(), Error> {
    match is_copy() {
        false => Ok(()),
        true => Err(Error::Forked),
    }
}

/// A value whose drop may call a driver, or wait for a thread. In a copy it is leaked.
pub(super) struct Here<T>(ManuallyDrop<T>);

impl<T> Here<T> {
    pub fn new(what: T) -> Self {
        Self(ManuallyDrop::new(what))
    }
}

impl<T: ?Sized> Deref for Here<Box<T>> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> Deref for Here<Arc<T>> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> DerefMut for Here<Box<T>> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for Here<T> {
    fn drop(&mut self) {
        if !is_copy() {
            // Safety: it is dropped here alone.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}

#[cfg(test)]
mod tests;
