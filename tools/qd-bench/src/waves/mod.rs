//! The subgroup size that the search chooses, beside every size that the cpu has: 50 kernels, half of them held
//! out.
//!
//! Sizes take turns, and medians count. 32 runs twice: what it differs by from itself is the spread. What is
//! selected has to compute what the same size does as it was.

mod kernels;

use crate::rows::random;
use anyhow::ensure;
use kernels::{KERNELS, Kernel};
use qd_frontend::{
    Artifact, CompileRequest, Source, compile,
    objects::{Arg, Buffer, Device, DeviceId, DeviceOptions, Priority, Stream},
};
use std::time::Duration;

/// What the rows begin with.
pub const NAME: &str = "waves";
const WAVES: [u32; 5] = [4, 8, 16, 32, 64];
const DEFAULT: u32 = 32;
/// A body's choice counts as right within this, beyond the spread.
const RIGHT: f64 = 1.05;

/// The rows' names.
pub fn names() -> Vec<String> {
    KERNELS.iter().map(|(name, _)| row(name)).collect()
}

fn row(kernel: &str) -> String {
    format!("{NAME} {kernel}")
}

/// A kernel for one size, or of the search's choice.
struct Compiled {
    wave: u32,
    kernel: qd_frontend::objects::Kernel,
    out: Buffer,
    times: Vec<Duration>,
}

/// Ratios of a set of kernels.
#[derive(Default)]
struct Set {
    over_best: Vec<f64>,
    over_default: Vec<f64>,
    right: usize,
}

/// Measures and prints the rows.
pub fn run(log2: u32, repeats: u32, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let all: Vec<_> = KERNELS.iter().copied().enumerate().collect();
    let all: Vec<_> = all
        .into_iter()
        .filter(|(_, kernel)| wanted(&row(kernel.0)))
        .collect();
    if all.is_empty() {
        return Ok(());
    }
    let device = Device::open(&DeviceId::for_target("cpu")?, &DeviceOptions::default())?;
    let stream = device.stream(Priority::Normal)?;
    let n = 1usize << log2;
    let signed: Vec<i32> = random(2 * n).into_iter().map(|x| x as i32).collect();
    let inputs = [
        Buffer::from_slice(&stream, &signed[..n])?,
        Buffer::from_slice(&stream, &signed[n..])?,
    ];
    let setting = Setting {
        device,
        stream,
        inputs,
        n,
        repeats,
    };
    let sizes: String = WAVES.iter().map(|wave| format!("{wave:>9}")).collect();
    println!(
        "\n{:<34} {:>8}{sizes} {:>8} {:>7} {:>8} {:>8} {:>7}",
        "row, ms by size", "", "selected", "wave", "/ best", "/ 32", "spread"
    );
    let mut sets = [Set::default(), Set::default()];
    for (number, kernel) in all {
        let is_held_out = number % 2 == 1;
        let set = &mut sets[usize::from(is_held_out)];
        one(kernel, is_held_out, &setting, set)?;
    }
    for (name, set) in ["fitted", "held out"].iter().zip(&sets) {
        let count = set.over_best.len();
        if count > 0 {
            println!(
                "{name}: {} of {count} within {RIGHT} of the best beyond the spread; geometric means: {:.3} of the \
                 best, {:.3} of fixed {DEFAULT}",
                set.right,
                mean(&set.over_best),
                mean(&set.over_default)
            );
        }
    }
    Ok(())
}

fn mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

/// On what kernels are measured.
struct Setting {
    device: Device,
    stream: Stream,
    inputs: [Buffer; 2],
    n: usize,
    repeats: u32,
}

fn one(kernel: Kernel, is_held_out: bool, setting: &Setting, set: &mut Set) -> anyhow::Result<()> {
    let Setting {
        device,
        stream,
        inputs,
        ..
    } = setting;
    let (n, repeats) = (setting.n, setting.repeats);
    let source = kernels::source(kernel, n / 256);
    let load = |target: &str| -> anyhow::Result<Compiled> {
        let artifact = compile(&CompileRequest {
            source: Source::text("kernel.mlir", source.as_str()),
            targets: vec![target.parse()?],
            ..CompileRequest::default()
        })?;
        Ok(Compiled {
            wave: only(&artifact)?,
            kernel: device.load(&artifact)?.kernel("main")?,
            out: Buffer::from_slice(stream, &vec![0i32; n])?,
            times: Vec::new(),
        })
    };
    let mut all = Vec::new();
    for wave in WAVES.into_iter().chain([DEFAULT]) {
        all.push(load(&format!("cpu,wave={wave}"))?);
    }
    all.push(load("cpu,select")?);
    // The first run of each is not timed.
    for turn in 0..=repeats {
        for compiled in &mut all {
            let arguments = [&inputs[0], &inputs[1], &compiled.out].map(Arg::from);
            let begin = stream.record()?;
            compiled.kernel.launch(stream, &arguments)?;
            let time = stream.record()?.since(&begin)?;
            if turn > 0 {
                compiled.times.push(time);
            }
        }
    }
    let median = |compiled: &Compiled| {
        let mut times = compiled.times.clone();
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    let (selected, fixed) = all.split_last().expect("there are some");
    let same = fixed.iter().find(|one| one.wave == selected.wave);
    let same = same.expect("the cpu has each size");
    ensure!(
        same.out.to_vec::<i32>(stream)? == selected.out.to_vec::<i32>(stream)?,
        "{}: what was selected computes something else",
        kernel.0
    );
    let (again, fixed) = fixed.split_last().expect("there are some");
    let times: Vec<f64> = fixed.iter().map(median).collect();
    let default = fixed.iter().position(|one| one.wave == DEFAULT);
    let default = times[default.expect("it is one of them")];
    let best = times.iter().copied().fold(f64::INFINITY, f64::min);
    let (own, again) = (median(selected), median(again));
    let spread = (default / again).max(again / default);
    let (over_best, over_default) = (own / best, own / default);
    set.over_best.push(over_best);
    set.over_default.push(over_default);
    set.right += usize::from(over_best <= RIGHT * spread);
    let sizes: String = times.iter().map(|time| format!("{time:>9.3}")).collect();
    println!(
        "{:<34} {:>8}{sizes} {own:>8.3} {:>7} {over_best:>8.2} {over_default:>8.2} {spread:>7.2}",
        row(kernel.0),
        if is_held_out { "held out" } else { "" },
        selected.wave,
    );
    Ok(())
}

/// The size of the bodies of an artifact.
fn only(artifact: &Artifact) -> anyhow::Result<u32> {
    let waves = artifact.waves(0);
    ensure!(waves.len() == 1, "the kernel has one body");
    Ok(waves.first().copied().unwrap_or(DEFAULT))
}
