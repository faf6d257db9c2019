//! A pool of host threads that share the blocks of a launch.
//!
//! Threads take blocks by ascending tickets: every block before a taken one has
//! finished or is being run by a thread that depends on no later block. That is
//! the forward progress that the target promises.

use super::link::Body;
use std::{
    hint, io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How long the calling thread works alone on many small blocks before it wakes
/// helpers: about the cost of waking them.
const ALONE: Duration = Duration::from_micros(8);

/// With fewer blocks than this, helpers are woken at once: the first block is
/// too much of the work to measure it.
const FEW: u64 = 64;

/// Tickets per thread: enough to balance uneven blocks, few enough that taking
/// one costs nothing.
const TICKETS_PER_THREAD: u64 = 16;

/// Spins before a yield, some 20 µs, and the number of yields before sleeping:
/// the gap between launches is shorter than sleeping and waking.
const TURNS: u32 = 500;
const YIELDS: u32 = 200;

/// Bodies keep a block's shared memory and its threads' values on the stack.
const STACK_BYTES: usize = 64 << 20;

/// As many threads as the machine runs at a time.
pub(super) fn default_threads() -> usize {
    // Asking reads files of the system: longer than a small kernel takes.
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| thread::available_parallelism().map_or(1, Into::into))
}

/// A body's call, and the next block to be taken.
struct Job {
    body: Body,
    grid: u64,
    arguments: *const u64,
    next: AtomicU64,
    ticket: u64,
}

impl Job {
    /// Runs the blocks of one ticket; false if none is left.
    fn ticket(&self) -> bool {
        let first = self.next.fetch_add(self.ticket, Ordering::Relaxed);
        if first >= self.grid {
            return false;
        }
        let end = self.grid.min(first + self.ticket);
        // Safety: the maker of the job vouches for body and arguments.
        unsafe { (self.body)(first, end, self.grid, self.arguments) };
        true
    }

    /// Runs blocks until none is left.
    fn work(&self) {
        while self.ticket() {}
    }
}

#[derive(Default)]
struct State {
    /// The job to help with, as long as its caller waits for it.
    job: Option<*const Job>,
    /// Helpers that sleep until they are woken.
    sleeping: usize,
    stop: bool,
}

// Safety: the job outlives its place in the state, and is shared by atomics.
unsafe impl Send for State {}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Jobs so far: what idle helpers watch without the lock.
    jobs: AtomicU64,
    /// Helpers at work on the job; goes up under the lock.
    helping: AtomicUsize,
    /// For helpers that sleep.
    wake: Condvar,
    /// For a caller that sleeps until the last helper is done.
    idle: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits a while for something that is about to happen.
fn wait_awake(happened: impl Fn() -> bool) {
    for _ in 0..TURNS {
        if happened() {
            return;
        }
        hint::spin_loop();
    }
    for _ in 0..YIELDS {
        if happened() {
            return;
        }
        thread::yield_now();
    }
}

/// Threads that wait for work.
pub(super) struct Pool {
    shared: Arc<Shared>,
    /// All but the caller's.
    helpers: Vec<JoinHandle<()>>,
}

impl Pool {
    /// A pool of this many threads, the caller's among them.
    pub fn new(threads: usize) -> io::Result<Self> {
        let mut pool = Self {
            shared: Arc::default(),
            helpers: Vec::new(),
        };
        for i in 1..threads {
            let shared = Arc::clone(&pool.shared);
            let helper = thread::Builder::new()
                .name(format!("qd-{i}"))
                .stack_size(STACK_BYTES)
                .spawn(move || help(&shared))?;
            pool.helpers.push(helper);
        }
        Ok(pool)
    }

    /// Threads that work on a launch at most.
    pub fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Runs all blocks of a launch.
    ///
    /// # Safety
    ///
    /// The body may be called with these arguments, from several threads.
    pub unsafe fn launch(&mut self, body: Body, grid: u64, arguments: &[u64]) {
        let arguments = arguments.as_ptr();
        if grid == 0 {
            return;
        }
        if grid == 1 || self.helpers.is_empty() {
            // Safety: the caller's promise.
            unsafe { body(0, grid, grid, arguments) };
            return;
        }
        self.share(&Job {
            body,
            grid,
            arguments,
            next: AtomicU64::new(0),
            ticket: (grid / (self.threads() as u64 * TICKETS_PER_THREAD)).max(1),
        });
    }

    fn share(&mut self, job: &Job) {
        let shared = &*self.shared;
        let sleeping = {
            // Counted under the lock: a helper that is about to sleep has it.
            let mut state = shared.lock();
            state.job = Some(job);
            shared.jobs.fetch_add(1, Ordering::Release);
            state.sleeping > 0
        };
        // Helpers that spin join by themselves. The others are woken for many
        // blocks when it has turned out that these take a while.
        if sleeping && job.grid < FEW {
            shared.wake.notify_all();
        } else if sleeping {
            let begin = Instant::now();
            while job.ticket() {
                if begin.elapsed() > ALONE {
                    shared.wake.notify_all();
                    break;
                }
            }
        }
        job.work();
        // No thread joins from here on, and the job lives until the last has left.
        shared.lock().job = None;
        let is_done = || shared.helping.load(Ordering::Acquire) == 0;
        wait_awake(is_done);
        let mut state = shared.lock();
        while !is_done() {
            state = shared
                .idle
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.wake.notify_all();
        for helper in self.helpers.drain(..) {
            // A helper does not panic, and if it did it would be gone as well.
            let _ = helper.join();
        }
    }
}

/// A helper's life.
fn help(shared: &Shared) {
    let mut seen = 0;
    loop {
        wait_awake(|| shared.jobs.load(Ordering::Acquire) != seen);
        let mut state = shared.lock();
        while shared.jobs.load(Ordering::Acquire) == seen && !state.stop {
            state.sleeping += 1;
            state = shared
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.sleeping -= 1;
        }
        if state.stop {
            return;
        }
        seen = shared.jobs.load(Ordering::Acquire);
        let Some(job) = state.job else { continue };
        shared.helping.fetch_add(1, Ordering::Relaxed);
        drop(state);
        // Safety: the caller waits for its helpers before the job ends.
        unsafe { &*job }.work();
        if shared.helping.fetch_sub(1, Ordering::Release) == 1 {
            // The lock: a caller that is about to sleep has it.
            let _state = shared.lock();
            shared.idle.notify_one();
        }
    }
}
