//! Host threads that share the blocks of a launch.
//!
//! Blocks are handed out by ascending tickets: whoever holds a block knows that
//! every block before it is finished or being run by a thread that needs
//! nothing from later ones. That is the forward progress that the target
//! promises.

use super::jit::Body;
use std::{
    hint,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// What the calling thread does by itself before it asks for help: about what
/// waking others costs.
const ALONE: Duration = Duration::from_micros(8);

/// Tickets per thread: enough that uneven blocks even out, few enough that
/// taking one costs nothing.
const TICKETS_PER_THREAD: u64 = 16;

/// Turns an idle thread waits before it sleeps, some 20 µs: launches follow
/// each other more closely than that.
const TURNS: u32 = 500;

/// Bodies keep a block's shared memory and its threads' values on the stack.
const STACK_BYTES: usize = 64 << 20;

/// As many threads as the machine runs at a time.
pub(super) fn default_threads() -> usize {
    // Asking reads files of the system: longer than a small kernel takes.
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| thread::available_parallelism().map_or(1, Into::into))
}

/// A body's call, and the next block that nobody has taken.
struct Job {
    body: Body,
    grid: u64,
    arguments: *const u64,
    next: AtomicU64,
    ticket: u64,
}

impl Job {
    /// Runs blocks until none is left.
    fn work(&self) {
        loop {
            let first = self.next.fetch_add(self.ticket, Ordering::Relaxed);
            if first >= self.grid {
                return;
            }
            let end = self.grid.min(first + self.ticket);
            // Safety: whoever made the job vouches for body and arguments.
            unsafe { (self.body)(first, end, self.grid, self.arguments) };
        }
    }
}

#[derive(Default)]
struct State {
    /// The job to help with, as long as its caller waits for it.
    job: Option<*const Job>,
    /// Helpers at work on it.
    helping: usize,
    stop: bool,
}

// Safety: the job outlives its place in the state, and is shared by atomics.
unsafe impl Send for State {}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Jobs so far: what idle threads watch without the lock.
    jobs: AtomicU64,
    wake: Condvar,
    idle: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads that wait for work.
pub(super) struct Pool {
    threads: usize,
    shared: Arc<Shared>,
    /// Started when there is first something to share.
    helpers: Vec<JoinHandle<()>>,
}

impl Pool {
    /// A pool of this many threads, the caller's among them.
    pub fn new(threads: usize) -> Self {
        Self {
            threads,
            shared: Arc::default(),
            helpers: Vec::new(),
        }
    }

    /// Threads that work on a launch at most.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs all blocks of a launch.
    ///
    /// # Safety
    ///
    /// The body may be called with these arguments, from several threads.
    pub unsafe fn launch(
        &mut self,
        body: Body,
        grid: u64,
        arguments: &[u64],
    ) -> std::io::Result<()> {
        let arguments = arguments.as_ptr();
        if self.threads == 1 {
            // Safety: the caller's promise.
            unsafe { body(0, grid, grid, arguments) };
            return Ok(());
        }
        // How much a block does is not known before one has run: a launch that
        // is soon done is not worth waking anybody.
        let begin = Instant::now();
        let mut block = 0;
        while block < grid {
            // Safety: the caller's promise.
            unsafe { body(block, block + 1, grid, arguments) };
            block += 1;
            if begin.elapsed() > ALONE {
                break;
            }
        }
        if block < grid {
            self.share(&Job {
                body,
                grid,
                arguments,
                next: block.into(),
                ticket: ((grid - block) / (self.threads as u64 * TICKETS_PER_THREAD)).max(1),
            })?;
        }
        Ok(())
    }

    fn share(&mut self, job: &Job) -> std::io::Result<()> {
        self.start()?;
        {
            // Counted under the lock: a helper that is about to sleep has it.
            let mut state = self.shared.lock();
            state.job = Some(job);
            self.shared.jobs.fetch_add(1, Ordering::Release);
        }
        self.shared.wake.notify_all();
        job.work();
        // Nobody joins from here on, and the job lives until the last has left.
        let mut state = self.shared.lock();
        state.job = None;
        while state.helping > 0 {
            state = self
                .shared
                .idle
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    fn start(&mut self) -> std::io::Result<()> {
        while self.helpers.len() + 1 < self.threads {
            let shared = Arc::clone(&self.shared);
            let helper = thread::Builder::new()
                .name(format!("qd-{}", self.helpers.len() + 1))
                .stack_size(STACK_BYTES)
                .spawn(move || help(&shared))?;
            self.helpers.push(helper);
        }
        Ok(())
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
        for _ in 0..TURNS {
            if shared.jobs.load(Ordering::Acquire) != seen {
                break;
            }
            hint::spin_loop();
        }
        let mut state = shared.lock();
        while shared.jobs.load(Ordering::Acquire) == seen && !state.stop {
            state = shared
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.stop {
            return;
        }
        seen = shared.jobs.load(Ordering::Acquire);
        let Some(job) = state.job else { continue };
        state.helping += 1;
        drop(state);
        // Safety: the caller waits for its helpers before the job ends.
        unsafe { &*job }.work();
        let mut state = shared.lock();
        state.helping -= 1;
        if state.helping == 0 {
            shared.idle.notify_one();
        }
    }
}
