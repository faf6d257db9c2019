//! The overhead of a device's pool, and the time of allocations, with arrays of random sizes.

use super::{median, micros};
use qd_frontend::{
    Dtype,
    objects::{Buffer, Device, DeviceId, DeviceOptions, Priority},
};
use std::time::Instant;

pub const NAME: &str = "calls: pool";

/// Arrays in all, and at a time.
const ARRAYS: usize = 100_000;
const AT_A_TIME: [usize; 2] = [40, 400];

/// Bytes at random: each power of 2 from 1 KiB to 64 MiB is as likely as any other.
fn bytes(random: &mut u64) -> u64 {
    *random = random
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    let least = 1024 << (*random >> 60);
    least + (*random >> 40) % least
}

/// Measures and prints.
pub fn run(id: &DeviceId) -> anyhow::Result<()> {
    println!(
        "\n{:<24} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
        NAME, "in use", "held", "held/use", "median, µs", "99 %, µs", "most, µs"
    );
    for at_a_time in AT_A_TIME {
        measure(&Device::open(id, &DeviceOptions::default())?, at_a_time)?;
    }
    println!(
        "\n{ARRAYS} arrays of 1 KiB to 64 MiB, of which one at random is freed when there are as many as the \
         row says; in use, held: the most at a time, in MiB; µs: of the host, to allocate one"
    );
    Ok(())
}

fn measure(device: &Device, at_a_time: usize) -> anyhow::Result<()> {
    let stream = device.stream(Priority::Normal)?;
    let (mut random, mut arrays, mut times) = (1, Vec::new(), Vec::new());
    let (mut live, mut held) = (0, 0);
    for _ in 0..ARRAYS {
        let bytes = bytes(&mut random);
        let begin = Instant::now();
        arrays.push(Buffer::new(&stream, Dtype::U8, &[bytes])?);
        times.push(micros(begin.elapsed()));
        let memory = device.memory();
        (live, held) = (live.max(memory.live), held.max(memory.reserved));
        if arrays.len() > at_a_time {
            arrays.swap_remove((random >> 33) as usize % arrays.len());
        }
    }
    let middle = median(&mut times);
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "{:<24} {:>10.0} {:>10.0} {:>10.3} {middle:>10.2} {:>10.2} {:>10.0}",
        format!("{at_a_time} at a time"),
        mib(live),
        mib(held),
        held as f64 / live as f64,
        times[ARRAYS / 100 * 99],
        times[ARRAYS - 1],
    );
    Ok(())
}
