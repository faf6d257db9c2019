//! Benchmarks of targets, `qd-opt` and compile time, each compared with its peer in the same run.
//!
//! Every row is checked before it is timed: our result against the peer's. The
//! floor of a row is the bytes that it must move over the bandwidth of a parallel
//! copy, measured in the same run.

mod calls;
mod clock;
mod cold;
mod costs;
mod device;
mod edits;
mod incremental;
mod measure;
mod opt;
mod peers;
mod rows;
mod scaling;
mod search;
mod waves;

use clap::Parser;
use std::{path::PathBuf, process::ExitCode};

/// That of the tools which are measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Benchmarks a target, qd-opt, and the growth of compile time, each compared with a peer.
#[derive(Debug, Parser)]
#[command(
    after_help = "Examples:\n  cargo xtask bench\n  cargo xtask bench --log2 22 --repeats 15\n  cargo xtask bench --only opt\n  cargo xtask bench -- --only scaling\n  cargo xtask bench -- --only 'scaling branches'\n  cargo xtask bench -- --only scaling --instructions\n  cargo xtask bench -- --only incremental\n  cargo xtask bench -- --only edits\n  cargo xtask bench -- --only search\n  cargo xtask bench -- --only waves\n  cargo xtask bench -- --costs\n  cargo xtask bench -- --costs --target nvptx:sm_90\n  cargo xtask bench --target nvptx:sm_90 --log2 16,20,24,28\n  cargo xtask bench --target nvptx:sm_90 --only calls\n  cargo xtask bench --target nvptx:sm_90 --only 'scan,sort u64'"
)]
struct Arguments {
    /// The target to measure: the cpu, or a device, compared with CUB (which needs nvcc)
    #[arg(long, default_value = "cpu")]
    target: String,
    /// log2 of the elements: 26 on the cpu, where sort takes a quarter; 16,20,24,28 on a device
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(10..=28))]
    log2: Vec<u32>,
    /// Measures the target alone, without CUB
    #[arg(long)]
    alone: bool,
    /// Has a dispatcher choose among the tunings of each row by measuring, and measures its choice
    #[arg(long, conflicts_with = "tune")]
    dispatch: bool,
    /// Tunes algorithms for a device, and writes the best settings to this table
    #[arg(long, value_name = "TABLE")]
    tune: Option<PathBuf>,
    /// Timed runs of each side, in turn; the median counts, and of 'search compile' the fastest
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Writes the kernels of a device's rows, or of `waves`, to this folder, and measures nothing
    #[arg(long, value_name = "FOLDER")]
    kernels: Option<PathBuf>,
    /// Measures what collectives and classes of ops cost on the target, and prints rows for a file of costs
    #[arg(long)]
    costs: bool,
    /// Launches each kernel of `waves` once, and measures nothing: what `cargo xtask wave-opinions` counts
    #[arg(long, hide = true)]
    once: bool,
    /// Only the row of this name, or the rows whose names contain one of these; `opt` is the row of qd-opt, `scaling` all of compile time
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Counts instructions of `scaling` with valgrind, instead of measuring times
    #[arg(long)]
    instructions: bool,
    /// Compiles this file for the target and prints what that costs: what `scaling` runs
    #[arg(long, hide = true, value_name = "FILE")]
    compile: Option<PathBuf>,
    /// Sorts once and prints what that took by stage: what `start of a process` runs, which says
    /// when that was
    #[arg(long, hide = true, value_name = "NANOSECONDS")]
    sort_once: Option<u64>,
    /// Only opens the device, likewise
    #[arg(long, hide = true, requires = "sort_once")]
    open_only: bool,
    /// What is made of it
    #[arg(
        long,
        hide = true,
        requires = "compile",
        value_enum,
        default_value = "code"
    )]
    what: scaling::What,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("qd-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(path) = &arguments.compile {
        return scaling::child::run(path, &arguments.target, arguments.what);
    }
    if let Some(spawned) = arguments.sort_once {
        return cold::child(&arguments.target, spawned, arguments.open_only);
    }
    if arguments.costs {
        return costs::run(&arguments.target, arguments.repeats);
    }
    let is_cpu = arguments.target.split(',').next() == Some("cpu");
    let mut names = match is_cpu {
        true => {
            let mut names: Vec<_> = rows::ROWS.iter().map(|row| row.name.to_string()).collect();
            names.push("opt".into());
            names.extend(scaling::names());
            names.extend([incremental::NAME, edits::EDITS, edits::KERNELS].map(String::from));
            names.extend(search::names());
            names
        }
        false => device::names(),
    };
    // A device of Vulkan's has the size that its target names, and there are none to compare.
    let has_waves = !arguments.target.starts_with("vulkan");
    if has_waves {
        names.extend(waves::names());
    }
    names.extend(calls::names());
    names.push(cold::NAME.into());
    let nothing = |part: &&String| !names.iter().any(|name| name.contains(part.as_str()));
    if let Some(part) = arguments.only.iter().find(nothing) {
        anyhow::bail!(
            "--only {part}: there is no such row; the rows are\n  {}",
            names.join("\n  ")
        );
    }
    let wanted = |name: &str| {
        let only = &arguments.only;
        let is_of = |part: &String| match names.contains(part) {
            true => name == part,
            false => name.contains(part.as_str()),
        };
        only.is_empty() || only.iter().any(is_of)
    };
    let log2 = arguments.log2.first().copied().unwrap_or(22);
    if let Some(folder) = &arguments.kernels {
        return match is_cpu {
            true => waves::write_kernels(folder, log2, wanted),
            false => device::write_kernels(folder, wanted),
        };
    }
    if arguments.once {
        return waves::once(&arguments.target, log2, wanted);
    }
    if !is_cpu {
        let table = device::Table {
            target: &arguments.target,
            sizes: match &arguments.log2[..] {
                [] => &[16, 20, 24, 28],
                sizes => sizes,
            },
            repeats: arguments.repeats,
            alone: arguments.alone,
            dispatch: arguments.dispatch,
        };
        return match &arguments.tune {
            Some(path) => device::tune(&table, path, wanted),
            None => {
                device::run(&table, wanted)?;
                if has_waves {
                    waves::run(&arguments.target, log2, arguments.repeats, wanted)?;
                }
                calls::run(&arguments.target, wanted)?;
                started(arguments, wanted)
            }
        };
    }
    anyhow::ensure!(
        arguments.tune.is_none(),
        "--tune is for a device: name it with --target"
    );
    anyhow::ensure!(
        !arguments.dispatch,
        "--dispatch is for a device: name it with --target"
    );
    let has_peers = rows::ROWS.iter().any(|row| wanted(row.name)) || wanted("opt");
    if has_peers && !arguments.instructions {
        beside_peers(arguments, wanted)?;
    }
    if !arguments.instructions {
        calls::run(&arguments.target, wanted)?;
        started(arguments, wanted)?;
        if wanted(incremental::NAME) {
            incremental::run(arguments.repeats)?;
        }
        if wanted(edits::EDITS) {
            edits::run()?;
        }
        if wanted(edits::KERNELS) {
            edits::many()?;
        }
        search::run(arguments.repeats, wanted)?;
        waves::run("cpu", log2, arguments.repeats, wanted)?;
    }
    scaling::run(wanted, arguments.instructions)
}

/// What it takes to start.
fn started(arguments: &Arguments, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    match wanted(cold::NAME) {
        true => cold::run(&arguments.target, arguments.repeats),
        false => Ok(()),
    }
}

/// The rows of the cpu and of qd-opt.
fn beside_peers(arguments: &Arguments, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let log2 = arguments.log2.first().copied().unwrap_or(26);
    let bandwidth = measure::copy_bandwidth(1 << log2.min(26));
    println!(
        "{} threads; a parallel copy moves {:.1} GB/s (read plus write)\n",
        rayon::current_num_threads(),
        bandwidth / 1e9
    );
    println!(
        "{:<34} {:>10} {:>10} {:>10} {:>8}  peer",
        "row", "ours, ms", "peer, ms", "floor, ms", "ratio"
    );
    for row in rows::ROWS {
        if wanted(row.name) {
            (row.run)(row, log2, arguments.repeats, bandwidth)?;
        }
    }
    if wanted("opt") {
        opt::run(arguments.repeats)?;
    }
    println!("\nratio: the peer's time over ours; above 1 we are faster");
    Ok(())
}
