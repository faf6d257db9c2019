//! Looks slices up, and compiles the missing ones in parallel.

use super::{Outcome, outcome, record};
use crate::cut::Slice;
use qd_artifact::TargetSpec;
use qd_lowering::Options;
use qd_store::{Key, Store};
use std::{
    panic,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

/// How far a compilation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Slices that have been compiled.
    pub done: usize,
    /// Slices that have to be.
    pub of: usize,
}

/// A slice to be compiled for a target.
pub struct Job<'a> {
    /// What it is, for people.
    pub label: String,
    pub slice: Slice,
    pub text: String,
    /// Those of its kernels that are compiled; all if it is `None`.
    pub kernels: Option<Vec<String>>,
    pub target: &'a TargetSpec,
    pub key: Key,
}

impl Job<'_> {
    /// What the store has of it.
    pub fn find(&self, store: &Store) -> Option<Outcome> {
        find(store, &self.key)
    }

    /// Compiles it, and keeps what comes of it.
    fn compile(&self, options: &Options, store: &Store) -> Outcome {
        let kernels = self.kernels.as_deref();
        let outcome = outcome::compile(&self.text, kernels, self.target, options);
        keep(store, &self.key, &self.label, &outcome);
        outcome
    }
}

/// What a store has under a key.
pub fn find(store: &Store, key: &Key) -> Option<Outcome> {
    let bytes = store.get(key)?;
    let found = record::read(&bytes);
    if found.is_none() {
        store.discard(key);
    }
    found
}

/// Keeps an outcome, if it is one to be kept.
pub fn keep(store: &Store, key: &Key, label: &str, outcome: &Outcome) {
    if let Some(bytes) = record::write(outcome) {
        store.put(key, label, &bytes);
    }
}

/// The outcome of each job.
pub fn outcomes(
    jobs: &[Job<'_>],
    options: &Options,
    store: &Store,
    progress: &mut dyn FnMut(Progress),
) -> Vec<Outcome> {
    let mut outcomes: Vec<_> = jobs.iter().map(|job| job.find(store)).collect();
    let missing: Vec<usize> = (0..jobs.len()).filter(|i| outcomes[*i].is_none()).collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..threads.min(missing.len()) {
            let (send, missing, next) = (send.clone(), &missing, &next);
            scope.spawn(move || {
                while let Some(i) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let compile = || jobs[*i].compile(options, store);
                    let outcome = panic::catch_unwind(panic::AssertUnwindSafe(compile));
                    if send.send((*i, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        for (done, (i, outcome)) in receive.iter().enumerate() {
            let outcome = outcome.unwrap_or_else(|panic| panic::resume_unwind(panic));
            outcomes[i] = Some(outcome);
            progress(Progress {
                done: done + 1,
                of: missing.len(),
            });
        }
    });
    let all = outcomes.into_iter();
    all.map(|outcome| outcome.expect("each has been compiled"))
        .collect()
}
