//! Measures the cpu target and `qd-opt`, each beside its peer in the same run.
//!
//! Every row is checked before it is timed: our result against the peer's. The
//! floor of a row is the bytes it must move over the bandwidth of a parallel
//! copy, measured in the same run.

mod measure;
mod opt;
mod peers;
mod rows;

use clap::Parser;
use std::process::ExitCode;

/// Measures the cpu target and qd-opt against their peers.
#[derive(Debug, Parser)]
#[command(
    after_help = "Examples:\n  cargo xtask bench\n  cargo xtask bench --log2 22 --repeats 15\n  cargo xtask bench --only opt"
)]
struct Arguments {
    /// log2 of the elements of reduce, scan and select; sort takes a quarter
    #[arg(long, default_value_t = 26, value_parser = clap::value_parser!(u32).range(10..=28))]
    log2: u32,
    /// Timed runs of each side, in turn; the median counts
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Only the rows whose name contains this; `opt` is the row of qd-opt
    #[arg(long)]
    only: Option<String>,
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
    let wanted = |name: &str| {
        arguments
            .only
            .as_ref()
            .is_none_or(|only| name.contains(only.as_str()))
    };
    let bandwidth = measure::copy_bandwidth(1 << arguments.log2.min(26));
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
            (row.run)(row, arguments.log2, arguments.repeats, bandwidth)?;
        }
    }
    if wanted("opt") {
        opt::run(arguments.repeats)?;
    }
    println!("\nratio: the peer's time over ours; above 1 we are faster");
    Ok(())
}
