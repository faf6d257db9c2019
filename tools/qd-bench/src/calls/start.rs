//! The cost of opening and loading again, up to a kernel's first run, and the memory that it
//! takes.

use super::{Raw, SORT, median, micros, sorted};
use anyhow::ensure;
use cudarc::driver::result;
use qd_frontend::{
    compile_text,
    objects::{Buffer, Device, DeviceOptions, Graph, Kernel, Priority, Recording, Stream},
};
use std::time::Instant;

/// How many of what memory is counted of.
const MANY: usize = 500;

/// Measures and prints it, of a sort.
pub fn print(device: &Device, target: &str) -> anyhow::Result<()> {
    let artifact = compile_text(SORT, &device.resolve(&target.parse()?).to_string())?;
    let opened = time(&mut || {
        let again = Device::open(&device.info().id, &DeviceOptions::default())?;
        ensure!(again == *device, "another device");
        Ok(())
    })?;
    let load = || {
        let kernel = device.load(&artifact)?.kernel("main")?;
        kernel.load()?;
        anyhow::Ok(kernel)
    };
    let begin = Instant::now();
    let kernel = load()?;
    let loaded = micros(begin.elapsed());
    let again = time(&mut || load().map(drop))?;
    let stream = device.stream(Priority::Normal)?;
    let buffers = sorted(&kernel, &stream)?;
    let arguments: Vec<_> = buffers.iter().map(Into::into).collect();
    stream.synchronize()?;
    let begin = Instant::now();
    kernel.launch(&stream, &arguments)?;
    let first = micros(begin.elapsed());
    stream.synchronize()?;
    println!(
        "\nopening an open device {opened:.1} µs; loading a sort {loaded:.0} µs, again {again:.0} µs; its first \
         call {first:.0} µs"
    );
    // All stay until the end: what is freed is not given back, and would be used by the next.
    let (graphs, _graphs) = kept(device, || graph(&kernel, &stream, &buffers))?;
    // Each is loaded anew, beside code that is there.
    let (kernels, _kernels) = kept(device, load)?;
    println!("kept for another kernel of code that is loaded {kernels}; for a graph {graphs}");
    let raw = Raw::capture(device, &stream, |on| Ok(kernel.launch(on, &arguments)?))?;
    if let Some(raw) = raw {
        let (graphs, _graphs) = kept(device, || raw.again())?;
        println!("kept by the device's own API for a graph of the same nodes {graphs}");
    }
    Ok(())
}

/// A recording of a sort, instantiated and launched.
fn graph(kernel: &Kernel, stream: &Stream, buffers: &[Buffer]) -> anyhow::Result<Graph> {
    let mut recording = Recording::new(stream.device());
    let arguments: Vec<_> = buffers.iter().map(Into::into).collect();
    recording.launch(kernel, &arguments)?;
    let mut graph = recording.finish()?;
    graph.launch(stream)?;
    stream.synchronize()?;
    Ok(graph)
}

/// Memory that each of many takes, in words, and all of them.
fn kept<T>(
    device: &Device,
    make: impl Fn() -> anyhow::Result<T>,
) -> anyhow::Result<(String, Vec<T>)> {
    // What is made once and for all.
    let mut all: Vec<_> = (0..8).map(|_| make()).collect::<Result<_, _>>()?;
    let before = (resident_bytes(), free_bytes(device));
    for _ in 0..MANY {
        all.push(make()?);
    }
    let after = (resident_bytes(), free_bytes(device));
    let each = |bytes: u64| bytes as f64 / 1024.0 / MANY as f64;
    let host = before.0.zip(after.0).map(|(before, after)| {
        format!("{:.1} KiB of the host", each(after.saturating_sub(before)))
    });
    let there = before.1.zip(after.1).map(|(before, after)| {
        format!(
            "{:.1} KiB of the device",
            each(before.saturating_sub(after))
        )
    });
    let known: Vec<_> = host.into_iter().chain(there).collect();
    Ok((known.join(", "), all))
}

/// Bytes of this process in memory, where the system says so.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(4096 * pages)
}

/// Free bytes of a device, where its driver says so; this thread has entered it before.
fn free_bytes(device: &Device) -> Option<u64> {
    let is_cuda = device.info().id.driver == "cuda";
    is_cuda
        .then(result::mem_get_info)?
        .ok()
        .map(|(free, _)| free as u64)
}

fn time(what: &mut dyn FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..21 {
        let begin = Instant::now();
        what()?;
        times.push(micros(begin.elapsed()));
    }
    Ok(median(&mut times))
}
