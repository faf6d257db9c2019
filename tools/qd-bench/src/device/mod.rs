//! The rows of a device: every algorithm, element and size, each checked, and
//! beside it the vendor's own library and the floor.
//!
//! The floor is the bytes that must move over what a copy on the same device
//! moves; of a sort, a histogram's read and a read and a write for each digit of
//! eight bits.

mod case;
mod cub;
mod data;
mod tune;

use anyhow::Context;
use case::{CASES, Case, Prepared};
use qd_frontend::{Options, Program};
pub use tune::tune;

/// What the table is of.
pub struct Table<'a> {
    pub target: &'a str,
    /// log2 of the elements of each row.
    pub sizes: &'a [u32],
    pub repeats: u32,
    /// Whether to leave the peer out.
    pub alone: bool,
}

/// What its rows are called.
pub fn names() -> Vec<String> {
    CASES.iter().map(|case| case.name()).collect()
}

/// Measures and prints it.
pub fn run(table: &Table<'_>, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let cases: Vec<_> = CASES.iter().filter(|case| wanted(&case.name())).collect();
    let names: Vec<_> = cases.iter().map(|case| case.name()).collect();
    let peers = match table.alone {
        true => cub::Times::default(),
        false => cub::Times::measure(&names, table.sizes, table.repeats)?,
    };
    if let Some(bandwidth) = peers.bandwidth() {
        println!(
            "a copy moves {:.2} TB/s (read plus write)\n",
            bandwidth / 1e12
        );
    }
    println!(
        "{:<16} {:<4} {:>4} {:>8} {:>11} {:>11} {:>11} {:>7}",
        "row", "type", "log2", "launches", "ours, µs", "CUB, µs", "floor, µs", "ratio"
    );
    for case in cases {
        let program =
            Program::compile(&(case.kernel)(), table.target).with_context(|| case.name())?;
        for log2 in table.sizes {
            row(table, case, &program, *log2, &peers)
                .with_context(|| format!("{}, 2^{log2}", case.name()))?;
        }
    }
    println!("\nratio: CUB's time over ours; above 1 we are faster");
    Ok(())
}

fn row(
    table: &Table<'_>,
    case: &Case,
    program: &Program,
    log2: u32,
    peers: &cub::Times,
) -> anyhow::Result<()> {
    let prepared = (case.prepare)(1 << log2)?;
    let (ours, launches) = measure(case, program, &prepared, table.repeats)?;
    let text = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.1}"));
    let peer = peers.of(case.algorithm, case.element, log2);
    let floor = peers.bandwidth().map(|b| prepared.bytes / b * 1e6);
    let ratio = peer.map_or("-".into(), |peer| format!("{:.2}", peer / ours));
    println!(
        "{:<16} {:<4} {log2:>4} {:>8} {ours:>11.1} {:>11} {:>11} {ratio:>7}",
        case.algorithm,
        case.element,
        launches,
        text(peer),
        text(floor),
    );
    Ok(())
}

/// The median time of a row in µs, and how many launches it takes; its results are
/// checked.
fn measure(
    case: &Case,
    program: &Program,
    prepared: &Prepared,
    repeats: u32,
) -> anyhow::Result<(f64, u64)> {
    let given = &prepared.arguments;
    let mut on_device = program.prepare("main", given, &Options::default())?;
    let first = on_device.run()?;
    let mut after = given.clone();
    on_device.read(&mut after)?;
    (prepared.check)(&after)?;
    let mut times = Vec::new();
    for _ in 0..repeats {
        if case.in_place {
            on_device.write(given)?;
        }
        times.push(on_device.run()?.total);
    }
    times.sort();
    let median = times[times.len() / 2].as_secs_f64() * 1e6;
    Ok((median, first.launches))
}
