//! Looks slices up, and compiles the missing ones in parallel.

use super::outcome;
use qd_artifact::Options;
use qd_request::{Job, Outcome, find_all, keep};
use qd_store::Store;
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

/// Compiles it, and keeps what comes of it.
fn compile(job: &Job<'_>, options: &Options, store: &Store) -> Outcome {
    let kernels = job.kernels.as_deref();
    let outcome = outcome::compile(&job.text, kernels, job.target, options, Some(store)).0;
    keep(store, &job.key, &job.label, &outcome);
    outcome
}

/// The outcome of each job.
pub fn outcomes(
    jobs: &[Job<'_>],
    options: &Options,
    store: &Store,
    progress: &mut dyn FnMut(Progress),
) -> Vec<Outcome> {
    let mut outcomes = find_all(jobs, store);
    let missing: Vec<usize> = (0..jobs.len()).filter(|i| outcomes[*i].is_none()).collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..threads.min(missing.len()) {
            let (send, missing, next) = (send.clone(), &missing, &next);
            scope.spawn(move || {
                while let Some(i) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let compile = || compile(&jobs[*i], options, store);
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
