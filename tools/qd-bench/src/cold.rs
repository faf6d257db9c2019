//! From the start of a process to the first result of a sort, by stage.
//!
//! Each run is a process of its own. It opens the device while it compiles, as `qd-run` does, so
//! that the stage of opening may cost nothing; the time of opening alone is measured by
//! processes that do nothing else.

use crate::calls;
use crate::clock::now;
use anyhow::{Context, bail, ensure};
use qd_frontend::{
    CompileOptions, Dtype, Parsed, Source,
    objects::{Device, DeviceId, DeviceOptions, Opening, Priority},
};
use std::{
    mem::ManuallyDrop,
    path::Path,
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
};
use tracing_subscriber::{layer::SubscriberExt, registry::LookupSpan, util::SubscriberInitExt};

/// The row's name.
pub const NAME: &str = "start of a process";

/// Elements that are sorted.
const LENGTH: u32 = 1 << 20;

/// The stages, in order, and what they are for people.
const STAGES: [(&str, &str); 10] = [
    ("libraries", "the loader finds and binds shared libraries"),
    (
        "registration",
        "a context with every dialect; passes by name",
    ),
    ("parsing", "of the kernel's text"),
    ("passes", "from the algorithm to the target's dialects"),
    ("LLVM", "its translation, passes and code generation"),
    ("device", "waiting for what was begun behind the libraries"),
    ("arrays", "four are made, and one is filled"),
    (
        "driver",
        "it compiles or links the bodies that the call runs",
    ),
    ("first call", "until the result is on the host"),
    ("all", "from the start of the process"),
];

/// Waiting for the device.
const DEVICE: usize = 5;

/// What one process measures of itself.
pub fn child(target: &str, spawned: u64, opens_only: bool) -> anyhow::Result<()> {
    let mut times = vec![now() - spawned];
    let id = DeviceId::for_target(target)?;
    if opens_only {
        let begin = now();
        let _device = Device::open(&id, &DeviceOptions::default())?;
        println!("{}", now() - begin);
        return Ok(());
    }
    tracing_subscriber::registry().with(LlvmInterval).init();
    let mut last = now();
    let mut stage = |times: &mut Vec<u64>| {
        let next = now();
        times.push(next - std::mem::replace(&mut last, next));
    };
    let opening = Opening::begin(id, DeviceOptions::default());
    let context = ManuallyDrop::new(qd_frontend::context());
    stage(&mut times);
    let source = Source::text("sort.mlir", calls::SORT);
    let mut parsed = ManuallyDrop::new(Parsed::new(&context, &source, &mut |_| ())?);
    stage(&mut times);
    // A target may leave something to the device.
    let (resolved, opening) = opening.resolve(&target.parse()?)?;
    stage(&mut times);
    let resolving = times.pop().unwrap_or_default();
    let options = CompileOptions::of_environment();
    let artifact = parsed.compile(&[resolved], &options, &mut |_| ())?;
    stage(&mut times);
    // Of what it took, what was LLVM's.
    let llvm = LLVM_END
        .load(Ordering::Relaxed)
        .saturating_sub(LLVM_BEGIN.load(Ordering::Relaxed));
    let compiled = times.pop().unwrap_or_default();
    times.extend([compiled.saturating_sub(llvm), llvm]);
    let device = opening.wait()?;
    stage(&mut times);
    times[DEVICE] += resolving;
    let kernel = device.load(&artifact)?.kernel("main")?;
    let stream = device.stream(Priority::Normal)?;
    let buffers = calls::unsorted(&kernel, &stream, LENGTH)?;
    stage(&mut times);
    let arguments: Vec<_> = buffers.iter().map(Into::into).collect();
    kernel.prepare(&stream, &arguments)?;
    stage(&mut times);
    kernel.launch(&stream, &arguments)?;
    let keys = buffers[0].cast(Dtype::U32, &[LENGTH.into()])?;
    let result = keys.to_vec::<u32>(&stream)?;
    stage(&mut times);
    times.push(now() - spawned);
    ensure!(result.is_sorted(), "the first result is not sorted");
    let times: Vec<_> = times.iter().map(u64::to_string).collect();
    println!("{}", times.join(" "));
    Ok(())
}

/// When LLVM began and ended, in nanoseconds.
static LLVM_BEGIN: AtomicU64 = AtomicU64::new(u64::MAX);
static LLVM_END: AtomicU64 = AtomicU64::new(0);

struct LlvmInterval;

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S>
    for LlvmInterval
{
    fn on_enter(&self, id: &tracing::Id, context: tracing_subscriber::layer::Context<'_, S>) {
        if context.span(id).is_some_and(|span| is_llvm(span.name())) {
            LLVM_BEGIN.fetch_min(now(), Ordering::Relaxed);
        }
    }

    fn on_exit(&self, id: &tracing::Id, context: tracing_subscriber::layer::Context<'_, S>) {
        if context.span(id).is_some_and(|span| is_llvm(span.name())) {
            LLVM_END.fetch_max(now(), Ordering::Relaxed);
        }
    }
}

fn is_llvm(name: &str) -> bool {
    matches!(name, "translate" | "optimise" | "codegen" | "serialize")
}

/// Measures and prints the table.
pub fn run(target: &str, repeats: u32) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let opened = medians(target, repeats, &Caches::Off, true)?[0];
    let off = medians(target, repeats, &Caches::Off, false)?;
    let warm = Caches::In(folder.path());
    // Fills it.
    medians(target, 1, &warm, false)?;
    let on = medians(target, repeats, &warm, false)?;
    println!(
        "\n{:<14} {:>12} {:>12}",
        "stage, ms", "caches off", "caches on"
    );
    let milliseconds = |nanoseconds: u64| nanoseconds as f64 / 1e6;
    for (place, (stage, what)) in STAGES.iter().enumerate() {
        println!(
            "{stage:<14} {:>12.1} {:>12.1}  {what}",
            milliseconds(off[place]),
            milliseconds(on[place])
        );
    }
    let above = |all: &[u64]| milliseconds(all[STAGES.len() - 1]) - milliseconds(opened);
    println!(
        "{:<14} {:>12.1} {:>12.1}  all, less the {:.1} that opening the device takes by itself",
        "above opening",
        above(&off),
        above(&on),
        milliseconds(opened)
    );
    println!(
        "\nThe first sort of 2^20 u32, from text, in a process of its own; medians of {repeats}. The \
         caches are those of the device's driver and, on Vulkan, of our pipelines."
    );
    Ok(())
}

/// Where drivers keep what they have compiled.
enum Caches<'a> {
    Off,
    In(&'a Path),
}

fn medians(
    target: &str,
    repeats: u32,
    caches: &Caches<'_>,
    opens_only: bool,
) -> anyhow::Result<Vec<u64>> {
    let runs = (0..repeats).map(|_| process(target, caches, opens_only));
    let runs = runs.collect::<anyhow::Result<Vec<_>>>()?;
    let median = |place: usize| {
        let mut times: Vec<_> = runs.iter().map(|run| run[place]).collect();
        times.sort_unstable();
        times[times.len() / 2]
    };
    Ok((0..runs[0].len()).map(median).collect())
}

fn process(target: &str, caches: &Caches<'_>, opens_only: bool) -> anyhow::Result<Vec<u64>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--target", target]);
    if opens_only {
        command.arg("--open-only");
    }
    match caches {
        Caches::Off => command
            .env("CUDA_CACHE_DISABLE", "1")
            .env("QD_CACHE_DIR", "")
            .env("MESA_SHADER_CACHE_DISABLE", "true")
            .env("__GL_SHADER_DISK_CACHE", "0"),
        Caches::In(folder) => command
            .env("CUDA_CACHE_DISABLE", "0")
            .env("CUDA_CACHE_PATH", folder.join("cuda"))
            .env("QD_CACHE_DIR", folder.join("qd")),
    };
    command.arg(format!("--sort-once={}", now()));
    let output = command.output()?;
    if !output.status.success() {
        bail!(
            "a process ended with {}:\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let times: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
    let times = times.with_context(|| format!("no times: {text:?}"))?;
    let expected = if opens_only { 1 } else { STAGES.len() };
    ensure!(times.len() == expected, "other times: {text:?}");
    Ok(times)
}
