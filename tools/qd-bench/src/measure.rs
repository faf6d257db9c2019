//! Timing: sides take turns, medians count.

use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Median times of two sides that take turns, so that whatever else the machine
/// does falls on both. `prepare` runs untimed before each.
pub fn in_turn(
    repeats: u32,
    mut prepare: impl FnMut() -> anyhow::Result<()>,
    mut ours: impl FnMut() -> anyhow::Result<Duration>,
    mut peer: impl FnMut() -> Duration,
) -> anyhow::Result<(Duration, Duration)> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        prepare()?;
        a.push(ours()?);
        prepare()?;
        b.push(peer());
    }
    Ok((median(a), median(b)))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Times one call.
pub fn time(call: impl FnOnce()) -> Duration {
    let start = Instant::now();
    call();
    start.elapsed()
}

/// Bytes a second, read plus written, of a copy on all threads.
pub fn copy_bandwidth(elements: usize) -> f64 {
    let from = vec![1u32; elements];
    let mut to = vec![0u32; elements];
    let mut times = Vec::new();
    for _ in 0..5 {
        times.push(time(|| {
            to.par_chunks_mut(1 << 16)
                .zip(from.par_chunks(1 << 16))
                .for_each(|(to, from)| to.copy_from_slice(from));
        }));
    }
    8.0 * elements as f64 / median(times).as_secs_f64()
}

/// Prints a row of the table.
pub fn print(name: &str, ours: Duration, peer: Duration, floor: Option<f64>, what: &str) {
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    let floor = floor.map_or("-".into(), |seconds| format!("{:.2}", seconds * 1e3));
    println!(
        "{name:<34} {:>10.2} {:>10.2} {floor:>10} {:>8.2}  {what}",
        ms(ours),
        ms(peer),
        peer.as_secs_f64() / ours.as_secs_f64(),
    );
}
