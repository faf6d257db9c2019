//! The clock that trials are timed by.

use std::{
    fmt,
    time::{Duration, Instant},
};

/// A clock that never goes back. Tests have one of their own.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The time since a moment that stays the same.
    fn now(&self) -> Duration;

    /// As [`now`](Self::now), since a moment of its own, and perhaps some milliseconds late: asked
    /// at each call where [`Policy::repeat_after`](super::Policy::repeat_after) is set.
    fn coarse(&self) -> Duration {
        self.now()
    }
}

/// The machine's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    #[cfg(target_os = "linux")]
    fn coarse(&self) -> Duration {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // Safety: it writes a time. It has no other error than that there is no such clock.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}
