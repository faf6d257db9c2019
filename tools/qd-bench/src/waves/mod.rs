//! The subgroup size that the search chooses, beside every size that the target has: 50 kernels, half of them held
//! out.
//!
//! Sizes take turns, and medians count. A time is that of as many launches as take some milliseconds, of each as many:
//! one alone of some microseconds says as much of when threads wake up. Each program is loaded twice, and has the lower of
//! its times, for where code lies is nothing that a size is to blame for. What 32 differs by from itself is the spread. What is
//! selected has to compute what the same size does as it was; where its code is the same, it is that program, and has its time.

mod kernels;

use crate::rows::random;
use anyhow::{Context, anyhow, ensure};
use kernels::{KERNELS, Kernel};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind};
use qd_frontend::{
    Artifact, CompileRequest, Format, Source, compile,
    objects::{Arg, Buffer, Device, Priority, Stream},
};
use qd_lowering::targets::Target;
use std::{fs, path::Path, time::Duration};

/// What the rows begin with.
pub const NAME: &str = "waves";
/// What others are compared with, where the target has it.
const DEFAULT: u32 = 32;
/// Threads of a block.
const THREADS: usize = 256;
/// How long a time is, at least.
const SAMPLE: Duration = Duration::from_millis(10);
/// Launches of a time, at most.
const MOST_LAUNCHES: u32 = 1_000;
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
    code: Vec<u8>,
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

/// Those of [`KERNELS`] that are wanted, each with its number.
fn chosen(wanted: impl Fn(&str) -> bool) -> Vec<(usize, Kernel)> {
    let all = KERNELS.iter().copied().enumerate();
    all.filter(|(_, kernel)| wanted(&row(kernel.0))).collect()
}

/// Whether no figure may be fitted to a kernel of that number.
fn is_held_out(number: usize) -> bool {
    number % 2 == 1
}

/// Writes the kernels as `NAME.mlir`, of those that are held out `NAME.held-out.mlir`, on blocks for
/// 2^`log2` elements.
pub fn write_kernels(
    folder: &Path,
    log2: u32,
    wanted: impl Fn(&str) -> bool,
) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (number, kernel) in chosen(wanted) {
        let held_out = if is_held_out(number) { ".held-out" } else { "" };
        let file = folder.join(format!("{}{held_out}.mlir", kernels::symbol(kernel.0)));
        let text = kernels::source(kernel, (1 << log2) / THREADS);
        fs::write(&file, text).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

/// Launches each kernel once, as the target has it, and measures nothing.
pub fn once(target: &str, log2: u32, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let setting = Setting::new(target, log2, 1)?;
    for (_, kernel) in chosen(wanted) {
        let source = kernels::source(kernel, setting.n / THREADS);
        let compiled = setting.load(kernel, &source, target)?;
        setting.launch(&compiled, 1).context(kernel.0)?;
    }
    Ok(())
}

/// Measures and prints the rows.
pub fn run(
    target: &str,
    log2: u32,
    repeats: u32,
    wanted: impl Fn(&str) -> bool,
) -> anyhow::Result<()> {
    let all = chosen(wanted);
    if all.is_empty() {
        return Ok(());
    }
    let setting = Setting::new(target, log2, repeats)?;
    let sizes: String = setting
        .waves
        .iter()
        .map(|wave| format!("{wave:>9}"))
        .collect();
    println!(
        "\n{:<34} {:>8}{sizes} {:>8} {:>7} {:>8} {:>8} {:>7}",
        "row, ms by size", "", "selected", "wave", "/ best", "/ 32", "spread"
    );
    let mut sets = [Set::default(), Set::default()];
    for (number, kernel) in all {
        let is_held_out = is_held_out(number);
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
    target: String,
    /// The sizes that the target has.
    waves: Vec<u32>,
    device: Device,
    stream: Stream,
    inputs: [Buffer; 2],
    n: usize,
    repeats: u32,
}

impl Setting {
    fn new(target: &str, log2: u32, repeats: u32) -> anyhow::Result<Self> {
        let parsed = Target::parse(target).map_err(|error| anyhow!(error))?;
        let device = qd_frontend::open(target)?;
        let stream = device.stream(Priority::Normal)?;
        let n = 1usize << log2;
        let signed: Vec<i32> = random(2 * n).into_iter().map(|x| x as i32).collect();
        let inputs = [
            Buffer::from_slice(&stream, &signed[..n])?,
            Buffer::from_slice(&stream, &signed[n..])?,
        ];
        Ok(Self {
            target: target.to_owned(),
            waves: parsed.capabilities.waves,
            device,
            stream,
            inputs,
            n,
            repeats,
        })
    }

    fn load(&self, kernel: Kernel, source: &str, target: &str) -> anyhow::Result<Compiled> {
        let artifact = compile(&CompileRequest {
            source: Source::text("kernel.mlir", source),
            targets: vec![target.parse()?],
            ..CompileRequest::default()
        })?;
        Ok(Compiled {
            wave: only(&artifact)?,
            code: code_of(&artifact)?,
            kernel: (self.device.load(&artifact)?).kernel(&kernels::symbol(kernel.0))?,
            out: Buffer::from_slice(&self.stream, &vec![0i32; self.n])?,
            times: Vec::new(),
        })
    }

    /// What a launch takes, of so many.
    fn launch(&self, compiled: &Compiled, launches: u32) -> anyhow::Result<Duration> {
        let arguments = [&self.inputs[0], &self.inputs[1], &compiled.out].map(Arg::from);
        let begin = self.stream.record()?;
        for _ in 0..launches {
            compiled.kernel.launch(&self.stream, &arguments)?;
        }
        Ok(self.stream.record()?.since(&begin)? / launches)
    }
}

fn one(kernel: Kernel, is_held_out: bool, setting: &Setting, set: &mut Set) -> anyhow::Result<()> {
    let stream = &setting.stream;
    let source = kernels::source(kernel, setting.n / THREADS);
    let load = |options: &str| {
        let target = format!("{},{options}", setting.target);
        setting.load(kernel, &source, &target)
    };
    let fixed = |wave: u32| match setting.waves.len() {
        1 => load("fixed"),
        _ => load(&format!("wave={wave},fixed")),
    };
    let default = match setting.waves.contains(&DEFAULT) {
        true => DEFAULT,
        false => setting.waves[0],
    };
    // Each program once, and then each again.
    let mut all: Vec<Compiled> = Vec::new();
    let mut programs = Vec::new();
    let options = setting.waves.iter().map(|wave| Some(*wave)).chain([None]);
    let compiled = |wave: Option<u32>| wave.map_or_else(|| load("select"), fixed);
    let mut distinct = Vec::new();
    // What was chosen last: the search's.
    let mut wave = default;
    for option in options {
        let one = compiled(option)?;
        wave = one.wave;
        let known = all.iter().position(|other| other.code == one.code);
        programs.push(known.unwrap_or(all.len()));
        if known.is_none() {
            all.push(one);
            distinct.push(option);
        }
    }
    let count = all.len();
    for option in distinct {
        all.push(compiled(option)?);
    }
    let (selected, sizes) = programs.split_last().expect("there is one of each size");
    // The first launch of each is not timed.
    for compiled in &all {
        setting.launch(compiled, 1)?;
    }
    let one = setting.launch(&all[*selected], 1)?;
    let launches = SAMPLE.div_duration_f64(one).ceil() as u32;
    let launches = launches.clamp(1, MOST_LAUNCHES);
    for _ in 0..setting.repeats {
        for compiled in &mut all {
            let time = setting.launch(compiled, launches)?;
            compiled.times.push(time);
        }
    }
    let place = |wave: u32| setting.waves.iter().position(|other| *other == wave);
    let of = |wave: u32| {
        place(wave)
            .map(|at| sizes[at])
            .context("the target has each size")
    };
    let same = &all[of(wave)?];
    ensure!(
        same.out.to_vec::<i32>(stream)? == all[*selected].out.to_vec::<i32>(stream)?,
        "{}: what was selected computes something else",
        kernel.0
    );
    let median = |program: usize| {
        let mut times = all[program].times.clone();
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    let both = |program: usize| [median(program), median(program + count)];
    let lower = |program: usize| both(program).into_iter().fold(f64::INFINITY, f64::min);
    let times: Vec<f64> = sizes.iter().map(|size| lower(*size)).collect();
    let best = times.iter().copied().fold(f64::INFINITY, f64::min);
    let [first, again] = both(of(default)?);
    let spread = (first / again).max(again / first);
    let (own, default) = (lower(*selected), lower(of(default)?));
    let (over_best, over_default) = (own / best, own / default);
    set.over_best.push(over_best);
    set.over_default.push(over_default);
    set.right += usize::from(over_best <= RIGHT * spread);
    let sizes: String = times.iter().map(|time| format!("{time:>9.3}")).collect();
    println!(
        "{:<34} {:>8}{sizes} {own:>8.3} {wave:>7} {over_best:>8.2} {over_default:>8.2} {spread:>7.2}",
        row(kernel.0),
        if is_held_out { "held out" } else { "" },
    );
    Ok(())
}

/// What an artifact executes, without the bodies' names, of which each says what its body was made of.
fn code_of(artifact: &Artifact) -> anyhow::Result<Vec<u8>> {
    let mut code = Vec::new();
    for module in &artifact.modules {
        let nameless = |text: &str| {
            let bodies = module.bodies.iter();
            bodies.fold(text.to_owned(), |text, body| text.replace(&body.name, ""))
        };
        match module.format {
            Format::Object => add_sections(module.bytes(), nameless, &mut code)?,
            _ => code.extend(nameless(&String::from_utf8_lossy(module.bytes())).bytes()),
        }
    }
    Ok(code)
}

/// Adds the sections of an object that a processor sees, and what they refer to.
fn add_sections(
    object: &[u8],
    nameless: impl Fn(&str) -> String,
    code: &mut Vec<u8>,
) -> anyhow::Result<()> {
    let file = object::File::parse(object)?;
    let seen = [
        SectionKind::Text,
        SectionKind::Data,
        SectionKind::ReadOnlyData,
    ];
    for section in file
        .sections()
        .filter(|section| seen.contains(&section.kind()))
    {
        code.extend(section.data()?);
        for (at, relocation) in section.relocations() {
            let target = match relocation.target() {
                RelocationTarget::Symbol(symbol) => nameless(file.symbol_by_index(symbol)?.name()?),
                other => format!("{other:?}"),
            };
            code.extend(format!("{at} {target} {}", relocation.addend()).bytes());
        }
    }
    Ok(())
}

/// The size of the bodies of an artifact.
fn only(artifact: &Artifact) -> anyhow::Result<u32> {
    let waves = artifact.waves(0);
    ensure!(waves.len() == 1, "the kernel has one body");
    Ok(waves.first().copied().unwrap_or(DEFAULT))
}
