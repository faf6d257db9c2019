//! The rows of a device: every algorithm, element type and size, each checked, and
//! compared with the vendor's own library and the floor.
//!
//! The floor is the least time that memory bandwidth allows: the bytes that must move,
//! over the bandwidth of a copy on the same device. For a sort these are a histogram's
//! read, and a read and a write for each digit of eight bits.

mod case;
mod cub;
mod data;
mod dispatch;
mod tune;

use anyhow::{Context, ensure};
use case::{Case, Prepared};
use qd_frontend::{
    Program,
    objects::{Detail, Kernel, Priority, Profiler, SpanKind, Stream},
};
use std::{collections::HashSet, fs, path::Path};
pub use tune::tune;

/// What the table is of.
pub struct Table<'a> {
    pub target: &'a str,
    /// log2 of the elements of each row.
    pub sizes: &'a [u32],
    pub repeats: u32,
    /// Whether to leave the peer out.
    pub alone: bool,
    /// Whether a dispatcher chooses among tunings.
    pub dispatch: bool,
}

impl Table<'_> {
    /// How often a row of this size is measured. All calls of a short one may be in one pause of
    /// the host, of some milliseconds.
    fn repeats(&self, log2: u32) -> u32 {
        self.repeats * if log2 <= 20 { 5 } else { 1 }
    }

    /// A stream of the target's device, which stays open as long as it.
    fn stream(&self) -> anyhow::Result<Stream> {
        Ok(qd_frontend::open(self.target)?.stream(Priority::Normal)?)
    }
}

/// What its rows are called.
pub fn names() -> Vec<String> {
    case::all().map(Case::name).collect()
}

/// Writes what rows run, as `ROW.TYPE.mlir`; of those that run the same, the first.
pub fn write_kernels(folder: &Path, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut written = HashSet::new();
    for case in case::all().filter(|case| wanted(&case.name())) {
        let kernel = (case.kernel)();
        if written.insert(kernel.clone()) {
            let file = folder.join(format!("{}.{}.mlir", case.algorithm, case.element));
            fs::write(&file, kernel).with_context(|| file.display().to_string())?;
        }
    }
    Ok(())
}

/// The kernels of all rows, each once, with what the rows call them.
pub fn kernels() -> Vec<(String, String)> {
    let mut seen = HashSet::new();
    let all = case::all().map(|case| (case.name(), (case.kernel)()));
    all.filter(|(_, kernel)| seen.insert(kernel.clone()))
        .collect()
}

/// Measures and prints it.
pub fn run(table: &Table<'_>, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let cases: Vec<_> = case::all().filter(|case| wanted(&case.name())).collect();
    if cases.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = cases.iter().map(|case| case.name()).collect();
    let peers = match table.alone {
        true => cub::Times::default(),
        false => cub::Times::measure(&names, table)?,
    };
    if let Some(bandwidth) = peers.bandwidth() {
        println!(
            "a copy moves {:.2} TB/s (read plus write)\n",
            bandwidth / 1e12
        );
    }
    println!(
        "{:<16} {:<5} {:>4} {:>8} {:>11} {:>11} {:>11} {:>7}{}",
        "row",
        "type",
        "log2",
        "launches",
        "ours, µs",
        "CUB, µs",
        "floor, µs",
        "ratio",
        if table.dispatch { "  tuning" } else { "" }
    );
    for case in cases {
        let stream = table.stream()?;
        let variants = match table.dispatch {
            true => dispatch::variants(case, table.target),
            false => plain(case, table.target),
        };
        let variants = variants.with_context(|| case.name())?;
        for log2 in table.sizes {
            row(table, case, (&variants, &stream), *log2, &peers)
                .with_context(|| format!("{}, 2^{log2}", case.name()))?;
        }
    }
    println!("\nratio: CUB's time over ours; above 1 we are faster");
    Ok(())
}

/// A case as the target's table has it tuned.
fn plain(case: &Case, target: &str) -> anyhow::Result<Vec<(String, Kernel)>> {
    let program = Program::compile(&(case.kernel)(), target)?;
    Ok(vec![(String::new(), program.kernel("main")?)])
}

fn row(
    table: &Table<'_>,
    case: &Case,
    (variants, stream): (&[(String, Kernel)], &Stream),
    log2: u32,
    peers: &cub::Times,
) -> anyhow::Result<()> {
    let prepared = (case.prepare)(1 << log2, stream)?;
    let (tuning, kernel) = match variants {
        [one] => one,
        _ => &variants[dispatch::fastest(variants, stream, &prepared)?],
    };
    let (ours, launches) = measure(kernel, stream, &prepared, table.repeats(log2))?;
    let text = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.1}"));
    let peer = peers.of(case.algorithm, case.element, log2);
    let floor = peers.bandwidth().map(|b| prepared.bytes / b * 1e6);
    let ratio = peer.map_or("-".into(), |peer| format!("{:.2}", peer / ours));
    println!(
        "{:<16} {:<5} {log2:>4} {:>8} {ours:>11.1} {:>11} {:>11} {ratio:>7}  {tuning}",
        case.algorithm,
        case.element,
        launches,
        text(peer),
        text(floor),
    );
    Ok(())
}

/// The median time of a row in µs, and how many launches it takes; its results are
/// checked. Nothing is copied between the device and the host while it is measured.
///
/// The time is the device's, between two events with nothing of the host between them but
/// handing over the call: what else a call costs the host is in the rows of calls.
fn measure(
    kernel: &Kernel,
    stream: &Stream,
    prepared: &Prepared,
    repeats: u32,
) -> anyhow::Result<(f64, u64)> {
    let arguments = prepared.arguments();
    prepared.restore(stream)?;
    kernel.launch(stream, &arguments)?;
    (prepared.check)(stream, &prepared.arguments)?;
    let profiler = Profiler::new(stream.device(), Detail::Calls)?;
    for _ in 0..repeats {
        prepared.restore(stream)?;
        // As the peer's program does.
        stream.synchronize()?;
        let attached = profiler.attach(stream)?;
        kernel.launch(stream, &arguments)?;
        drop(attached);
        stream.synchronize()?;
    }
    let spans = profiler.take()?.into_iter();
    let calls = spans.filter(|span| matches!(span.kind, SpanKind::Call { .. }));
    let mut times: Vec<_> = calls.map(|span| span.duration).collect();
    ensure!(times.len() == repeats as usize, "a call was not timed");
    times.sort();
    let median = times[times.len() / 2].as_secs_f64() * 1e6;
    Ok((median, kernel.launches(&arguments)?))
}
