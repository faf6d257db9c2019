//! A fuzzer: compares random kernels with the interpreter, gives mutated inputs to
//! the compiler, and reduces what fails.

mod compare;
mod coverage;
mod forms;
mod generate;
mod job;
mod mutate;
mod ods;
mod process;
mod program;
mod report;
mod shrink;
mod supervise;
mod types;
mod worker;

use clap::{Args, Parser, Subcommand};
use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::atomic::Ordering,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Fuzzes the compiler and the runtime: random kernels, compared with the interpreter on
/// every target, and mutated modules, bytecode and artifacts.
///
/// A kernel is generated from a seed and the ops' definitions, run by the interpreter
/// and compiled for targets, and the results are compared. A mutant is text,
/// bytecode or an artifact with something changed, which must compile or be
/// rejected with a located error. Failing inputs are reduced and written to
/// --out as FileCheck files; the exit code is then 1.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

const EXAMPLES: &str = "\
Examples:
  qd-smith run --kernels 200 --mutants 5000                 # a few minutes, a fresh seed
  qd-smith run --kernels 10000 --seed 1 --time 60m          # for hours
  qd-smith run --kernels 1000 --target nvptx:sm_90          # on a GPU
  qd-smith show 17                                          # kernel 17, as text
QD_SMITH_FAULTS=1 says why the interpreter refuses a kernel.";

#[derive(Debug, Subcommand)]
enum Task {
    /// Try kernels and mutants
    Run(Run),
    /// Print the kernel of a seed
    Show {
        /// The seed
        seed: u64,
        /// The target it is for: one that has no f64 gets a kernel without
        #[arg(long, default_value = "cpu")]
        target: String,
    },
    /// Take jobs from standard input; what `run` starts
    #[command(hide = true)]
    Worker {
        /// Where mutants come from
        #[arg(long)]
        corpus: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Run {
    /// The first seed; from the clock by default. Kernels use this one and those after it
    #[arg(long)]
    seed: Option<u64>,
    /// How many kernels to try
    #[arg(long, default_value_t = 0)]
    kernels: u64,
    /// How many mutants to try
    #[arg(long, default_value_t = 0)]
    mutants: u64,
    /// Stop after this long, such as 90s, 3m or 2h
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// A target to run kernels on; may be repeated. cpu is run at all of its subgroup sizes and at those that the compiler chooses, and
    /// vulkan:1.3 on lavapipe at 4, 8 and 16; others name their size, or have 32 lanes
    #[arg(long = "target", default_values_t = ["cpu".to_string(), "vulkan:1.3".to_string()])]
    targets: Vec<String>,
    /// Stop at the first finding, without reducing it
    #[arg(long)]
    first: bool,
    /// Run each kernel on one target and size, in turn, instead of on all
    #[arg(long)]
    turns: bool,
    /// The number of worker processes
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    jobs: usize,
    /// The folder whose .mlir files are mutated
    #[arg(long, default_value = "tests/filecheck")]
    corpus: PathBuf,
    /// Where findings are written
    #[arg(long, default_value = "out/smith")]
    out: PathBuf,
    /// Write which ops ran with which types on which targets to this file: a table, or a page if its name ends in .html
    #[arg(long)]
    coverage: Vec<PathBuf>,
}

fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a time: expected a number and s, m or h");
    let (number, unit) = text.split_at(text.len().saturating_sub(1));
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(wrong()),
    };
    Ok(Duration::from_secs(number * seconds))
}

/// Targets with their subgroup sizes.
fn resolved(targets: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    for target in targets {
        match target.as_str() {
            // Without a size, the compiler chooses it where no result shows: as if it were the default, 32.
            "cpu" => {
                all.extend([4, 8, 16, 32, 64].map(|n| format!("cpu,wave={n}")));
                all.push("cpu".into());
            }
            "vulkan:1.3" => all.extend([4, 8, 16].map(|n| format!("vulkan:1.3,subgroup={n}"))),
            other => all.push(other.into()),
        }
    }
    all
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Run(run) => try_all(&run),
        Task::Show { seed, target } => {
            let has = generate::Has::of(&[target]);
            let program = generate::generate(seed, has, &mut forms::Forms::default());
            let checks = match program.is_checked {
                true => format!(
                    "// Is compiled with checks: --target=cpu{}\n",
                    compare::CHECKED
                ),
                false => String::new(),
            };
            let text = report::pretty(&program.text());
            // Who has seen enough closes the pipe.
            match writeln!(io::stdout(), "{checks}{text}") {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.to_string()),
                _ => Ok(true),
            }
        }
        Task::Worker { corpus } => worker::run(&corpus).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("qd-smith: {message}");
            ExitCode::FAILURE
        }
    }
}

fn try_all(run: &Run) -> Result<bool, String> {
    if run.kernels + run.mutants == 0 {
        return Err("nothing to do: say how many with --kernels or --mutants".into());
    }
    if run.mutants != 0 {
        // Workers read them as well; here is whom an error concerns.
        mutate::Mutator::new(&run.corpus)?;
        mutate::program()?;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let clock = now.map_or(0, |time| time.as_secs());
    let plan = supervise::Plan {
        program: env::current_exe().map_err(|e| format!("where this program is: {e}"))?,
        corpus: run.corpus.clone(),
        seed: run.seed.unwrap_or(clock * 1_000_000),
        kernels: run.kernels,
        mutants: run.mutants,
        time: run.time,
        targets: resolved(&run.targets),
        by_turns: run.turns,
        is_first_enough: run.first,
        jobs: run.jobs.max(1),
        out: run.out.clone(),
    };
    eprintln!("seed {}; on {}", plan.seed, plan.targets.join(" "));
    let summary = supervise::run(&plan)?;
    for path in &run.coverage {
        write_coverage(path, &summary.coverage)?;
    }
    let of = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    println!(
        "{} kernels, {} faulted in the interpreter, {} comparisons; {} mutants, {} rejected; {} s",
        of(&summary.counts.kernels),
        of(&summary.counts.faults),
        of(&summary.counts.comparisons),
        of(&summary.counts.mutants),
        of(&summary.counts.rejected),
        summary.time.as_secs(),
    );
    match of(&summary.counts.upstream) {
        0 => {}
        n => println!("{n} crashes and hangs of upstream's bytecode reader, which are known"),
    }
    let findings = &summary.findings;
    for (what, count) in findings.by_key() {
        println!("{count:>6} × {what}");
    }
    match findings.len() {
        0 => {
            println!("nothing found");
            Ok(true)
        }
        n => {
            println!("{n} findings; examples, made small:");
            for file in findings.files() {
                println!("  {}", file.display());
            }
            Ok(false)
        }
    }
}

fn write_coverage(path: &Path, coverage: &supervise::Coverage) -> Result<(), String> {
    let is_page = path.extension().is_some_and(|e| e == "html");
    let text = match is_page {
        true => coverage::html(coverage),
        false => coverage::text(coverage),
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}
