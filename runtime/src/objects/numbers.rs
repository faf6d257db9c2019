//! The numbers of a stream's calls: which are on it, which the host is still doing, and which have
//! ended. `tests/interleavings.rs` tries all interleavings of threads on them.

use super::sync::{
    Condvar, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};
use std::collections::HashMap;

/// Calls of one stream, from 1.
#[derive(Default)]
pub struct Numbers {
    state: Mutex<State>,
    /// All calls up to this one have been waited for.
    ended: AtomicU64,
    /// The number of hosted calls: the fast path reads only this.
    hosted: AtomicUsize,
    /// Told when one is not any more.
    is_done: Condvar,
}

#[derive(Default)]
struct State {
    /// Calls so far.
    number: u64,
    /// Those of them that a host is still doing.
    hosted: Vec<u64>,
    /// Threads that wait for one of these.
    waiting: usize,
    /// Up to which call of other streams this one has waited, by their ids.
    seen: HashMap<u64, u64>,
}

impl State {
    fn next(&mut self) -> u64 {
        self.number += 1;
        self.number
    }
}

impl Numbers {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts what has been put onto the stream as its next call, and returns its number.
    pub fn count(&self) -> u64 {
        self.lock().next()
    }

    /// Puts the stream's next call onto it, and returns its number. No other comes meanwhile.
    pub fn submit<T>(&self, what: impl FnOnce(u64) -> T) -> (u64, T) {
        let mut state = self.lock();
        let number = state.next();
        let done = what(number);
        drop(state);
        (number, done)
    }

    /// Runs a function while no call is put onto the stream, with the number of the last call such
    /// that it and all before it are on the stream: a hosted one may not be yet.
    pub fn between<T>(&self, what: impl FnOnce(u64) -> T) -> T {
        let state = self.lock();
        let first = state.hosted.iter().min();
        what(first.map_or(state.number, |first| first - 1))
    }

    /// The stream's next call, if it waits for the device before it is all on the stream, or at all:
    /// no lock is held until [`unhost`](Self::unhost).
    pub fn host(&self) -> u64 {
        let mut state = self.lock();
        let number = state.next();
        state.hosted.push(number);
        self.hosted.store(state.hosted.len(), Ordering::Relaxed);
        number
    }

    /// A hosted call has been done.
    pub fn unhost(&self, number: u64) {
        let mut state = self.lock();
        state.hosted.retain(|hosted| *hosted != number);
        // A thread that sees this sees the effects of the call.
        self.hosted.store(state.hosted.len(), Ordering::Release);
        // Telling costs a call of the system.
        if state.waiting > 0 {
            self.is_done.notify_all();
        }
    }

    /// Whether the host is still doing a call. The caller has locked the call's allocations, as the
    /// host had when it began.
    pub fn is_hosted(&self, number: u64) -> bool {
        self.hosted.load(Ordering::Acquire) > 0 && self.lock().hosted.contains(&number)
    }

    /// Waits until no host is doing that call any more. The caller holds no lock.
    pub fn wait_for_host(&self, number: u64) {
        let mut state = self.lock();
        state.waiting += 1;
        while state.hosted.contains(&number) {
            let woken = self.is_done.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
    }

    /// All calls up to that one have been waited for.
    pub fn end(&self, number: u64) {
        self.ended.fetch_max(number, Ordering::Release);
    }

    /// Whether a call is known to have ended.
    pub fn has_ended(&self, number: u64) -> bool {
        self.ended.load(Ordering::Acquire) >= number
    }

    /// What comes from now on is ordered after that call of another stream, and those before it.
    pub fn note(&self, other: u64, number: u64) {
        let mut state = self.lock();
        let seen = state.seen.entry(other).or_default();
        *seen = number.max(*seen);
    }

    /// Whether what comes from now on is ordered after that call of another stream.
    pub fn has_seen(&self, other: u64, number: u64) -> bool {
        self.lock().seen.get(&other) >= Some(&number)
    }
}
