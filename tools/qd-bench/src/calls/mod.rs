//! The cost of a kernel's call on host and device, beside the vendor's API where there is one:
//! the same nodes, captured from such a call and replayed without us.

mod pool;
mod raw;
mod start;

use crate::scaling::phases;
use anyhow::{Context, bail};
use qd_frontend::{
    ArgumentKind, Dtype, args, compile_text,
    objects::{Arg, Buffer, Device, DeviceId, DeviceOptions, Kernel, Priority, Stream},
};
use raw::Raw;
use std::time::{Duration, Instant};

/// Calls between two waits: few enough for the device's queue.
const BATCH: usize = 100;

/// Batches of each side, in turns, unless they take too long.
const BATCHES: usize = 100;

/// Nothing is measured for longer.
const LONGEST: Duration = Duration::from_secs(10);

/// Sets of arrays that calls go through where each has others: more than a kernel keeps calls.
const SETS: usize = 16;

/// A kernel whose calls are measured.
struct Row {
    name: &'static str,
    source: fn() -> String,
    arguments: fn(&Kernel, &Stream) -> anyhow::Result<Vec<Buffer>>,
}

const ROWS: [Row; 6] = [
    Row {
        name: "calls of 1 launch",
        source: || phases(1),
        arguments: two_arrays,
    },
    Row {
        name: "calls of 4 launches",
        source: || phases(4),
        arguments: two_arrays,
    },
    Row {
        name: "calls of 16 launches",
        source: || phases(16),
        arguments: two_arrays,
    },
    Row {
        name: "calls of 32 launches",
        source: || phases(32),
        arguments: two_arrays,
    },
    Row {
        name: "calls of sort 2^16",
        source: || SORT.into(),
        arguments: sorted,
    },
    Row {
        name: "calls of the flights",
        source: || FLIGHTS.into(),
        arguments: grouped,
    },
];

const FLIGHTS: &str = include_str!("../../../../examples/flights/flights.mlir");

/// Of 32-bit keys, up to 2^24.
pub const SORT: &str = "qd.grid.kernel @main(%keys: memref<?xi32>, %tmp: memref<?xi32>, \
     %scratch: memref<?xi32>, %n: memref<i32>) {
       qd.algo.sort keys(%keys, %tmp : memref<?xi32>, memref<?xi32>) scratch(%scratch : memref<?xi32>)
         count(%n : memref<i32>) log256_max_n = 3 unsigned
     }";

fn two_arrays(_: &Kernel, stream: &Stream) -> anyhow::Result<Vec<Buffer>> {
    let array = || Buffer::from_slice(stream, &[1_i32; 64]);
    Ok(vec![array()?, array()?])
}

fn sorted(kernel: &Kernel, stream: &Stream) -> anyhow::Result<Vec<Buffer>> {
    unsorted(kernel, stream, 1 << 16)
}

/// What [`SORT`] takes.
pub fn unsorted(kernel: &Kernel, stream: &Stream, length: u32) -> anyhow::Result<Vec<Buffer>> {
    // Knuth's multiplicative hash: in no order.
    let values: Vec<u32> = (0..length).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let keys = Buffer::from_slice(stream, &values)?.cast(Dtype::I32, &[length.into()])?;
    let tmp = Buffer::new(stream, Dtype::I32, keys.shape())?;
    let n = Buffer::from_slice(stream, &[length as i32])?.cast(Dtype::I32, &[])?;
    let slots = kernel.minimum("arg2", &args![&keys, &tmp, _, &n])?;
    let scratch = Buffer::new(stream, Dtype::I32, &[slots])?;
    Ok(vec![keys, tmp, scratch, n])
}

/// As many flights as the example has, whose miles and minutes are in no order.
fn grouped(kernel: &Kernel, stream: &Stream) -> anyhow::Result<Vec<Buffer>> {
    let length = 200_000_u32;
    let values = |most: u32| -> Vec<i32> {
        let each = (0..length).map(|i| i.wrapping_mul(2_654_435_761) >> 8);
        each.map(|value| (value % most) as i32).collect()
    };
    let mut buffers: Vec<Buffer> = Vec::new();
    for argument in kernel.signature() {
        let ArgumentKind::Buffer { dtype, shape } = &argument.kind else {
            bail!("'{}' is not a buffer", argument.name);
        };
        let rows = match shape.as_slice() {
            // What it depends on comes before it.
            _ if argument.name.ends_with("scratch") => {
                let mut given: Vec<_> = buffers.iter().map(Arg::from).collect();
                given.resize(kernel.signature().len(), Arg::Missing);
                vec![kernel.minimum(&argument.name, &given)?]
            }
            [None, ..] => vec![length.into()],
            fixed => fixed.iter().flatten().copied().collect(),
        };
        buffers.push(match argument.name.as_str() {
            "delay" => Buffer::from_slice(stream, &values(100))?,
            "distance" => Buffer::from_slice(stream, &values(1500))?,
            "n" => Buffer::from_slice(stream, &[length as i32])?.cast(Dtype::I32, &[])?,
            _ => Buffer::new(stream, *dtype, &rows)?,
        });
    }
    Ok(buffers)
}

/// What the rows are called.
pub fn names() -> Vec<String> {
    let rows = ROWS.iter().map(|row| row.name.to_string());
    rows.chain(["calls: start", pool::NAME].map(String::from))
        .collect()
}

/// Measures and prints the rows.
pub fn run(target: &str, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    if wanted(pool::NAME) {
        pool::run(&DeviceId::for_target(target)?)?;
    }
    let rows: Vec<_> = ROWS.iter().filter(|row| wanted(row.name)).collect();
    if rows.is_empty() && !wanted("calls: start") {
        return Ok(());
    }
    let id = DeviceId::for_target(target)?;
    let device = Device::open(&id, &DeviceOptions::default())?;
    println!(
        "\n{:<24} {:>10} {:>10} {:>10} {:>10} {:>10} {:>7} {:>7} {:>7}",
        device.info().name.chars().take(24).collect::<String>(),
        "same, µs",
        "raw, µs",
        "others, µs",
        "queued, µs",
        "raw, µs",
        "ratio",
        "copied",
        "alloc."
    );
    for row in rows {
        measure(row, &device, target).with_context(|| row.name)?;
    }
    println!(
        "\nsame: the host's time of a call with the arrays of the last one; others: with other arrays each \
         time; queued: a call's share of {BATCH} that nothing waits between; raw: the device's own API on \
         the same nodes; ratio: of queued calls, raw over ours; copied: bytes a call copies; alloc.: \
         allocations it makes. Medians of {BATCHES} batches or {} calls, or as many as take {} s",
        BATCH * BATCHES,
        LONGEST.as_secs()
    );
    if wanted("calls: start") {
        start::print(&device, target)?;
    }
    Ok(())
}

fn measure(row: &Row, device: &Device, target: &str) -> anyhow::Result<()> {
    let target = device.resolve(&target.parse()?).to_string();
    let artifact = compile_text(&(row.source)(), &target)?;
    let kernel = device.load(&artifact)?.kernel(&artifact.kernels[0].name)?;
    let stream = device.stream(Priority::Normal)?;
    let sets: Result<Vec<_>, _> = (0..SETS)
        .map(|_| (row.arguments)(&kernel, &stream))
        .collect();
    let sets = sets?;
    let sets: Vec<Vec<_>> = sets
        .iter()
        .map(|set| set.iter().map(Into::into).collect())
        .collect();
    kernel.launch(&stream, &sets[0])?;
    stream.synchronize()?;

    let raw = Raw::capture(device, &stream, |on| Ok(kernel.launch(on, &sets[0])?))?;
    let before = device.memory();
    let mut ours = Times::default();
    let mut theirs = Times::default();
    let begin = Instant::now();
    for _ in 0..BATCHES {
        if begin.elapsed() > LONGEST {
            break;
        }
        let call = || Ok(kernel.launch(&stream, &sets[0])?);
        ours.batch(call, || Ok(stream.synchronize()?))?;
        if let Some(raw) = &raw {
            theirs.batch(|| raw.launch(), || raw.synchronize())?;
        }
    }
    let after = device.memory();
    let calls = ours.calls.len() as u64;
    let copied = after.uploaded + after.downloaded - before.uploaded - before.downloaded;
    let allocations = after.allocations - before.allocations;

    let mut others = Times::default();
    let mut next = 0;
    let begin = Instant::now();
    for _ in 0..BATCHES {
        if begin.elapsed() > LONGEST {
            break;
        }
        let call = || {
            next = (next + 1) % SETS;
            Ok(kernel.launch(&stream, &sets[next])?)
        };
        others.batch(call, || Ok(stream.synchronize()?))?;
    }
    let text = |time: Option<f64>| time.map_or("-".into(), |time| format!("{time:.2}"));
    let (same, queued) = (median(&mut ours.calls), median(&mut ours.batches));
    let raw_same = raw.as_ref().map(|_| median(&mut theirs.calls));
    let raw_queued = raw.as_ref().map(|_| median(&mut theirs.batches));
    println!(
        "{:<24} {same:>10.2} {:>10} {:>10.2} {queued:>10.2} {:>10} {:>7} {:>7} {:>7}",
        row.name,
        text(raw_same),
        median(&mut others.calls),
        text(raw_queued),
        text(raw_queued.map(|raw| raw / queued)),
        copied / calls,
        allocations / calls,
    );
    Ok(())
}

/// Times of calls and of batches of them.
#[derive(Default)]
struct Times {
    calls: Vec<f64>,
    /// A call's share.
    batches: Vec<f64>,
}

impl Times {
    fn batch(
        &mut self,
        mut call: impl FnMut() -> anyhow::Result<()>,
        wait: impl Fn() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let begin = Instant::now();
        let mut last = begin;
        for _ in 0..BATCH {
            call()?;
            let now = Instant::now();
            self.calls.push(micros(now - last));
            last = now;
        }
        wait()?;
        self.batches.push(micros(begin.elapsed()) / BATCH as f64);
        Ok(())
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
