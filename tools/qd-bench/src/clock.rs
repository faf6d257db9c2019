//! Time that processes share.

use std::time::Duration;

/// Nanoseconds of a clock that all processes share.
pub fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // Safety: the clock exists, and the time is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32).as_nanos() as u64
}
