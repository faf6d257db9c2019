//! The conformance suite on AMD's targets, in the oracle.
//!
//! Each test program is a process of its own, for a kernel that goes wrong takes its device with it; as
//! many as there are cores run at a time.

use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::{Result, ensure};

use crate::conformance::{Suite, name_of};
use crate::oracle::{self, Chip, Oracle};
use crate::packages::{self, Purpose};
use crate::suite::Report;
use crate::workspace::Workspace;
use crate::{conformance, process, workers};

/// Runs all of the suite on a target, at each wave unless it names one, and says how many cases those
/// were.
pub fn run(workspace: &Workspace, target: &str, args: &[String]) -> Result<()> {
    let chips = oracle::chips(target)?;
    packages::ensure(Purpose::Test)?;
    let report = execute(workspace, &chips, args, false, &|_| true)?;
    ensure!(report.passed, "{target} differs from the interpreter");
    Ok(())
}

/// Runs the suite on every chip at every wave; they take turns with algorithms, and with what all do alike: each such kernel
/// runs on one of them.
pub fn run_in_turns(workspace: &Workspace, args: &[String]) -> Result<Report> {
    execute(workspace, &oracle::all(), args, true, &|name| {
        name != conformance::REPEATED
    })
}

/// Runs test programs of these names on a target.
pub fn run_programs(workspace: &Workspace, target: &str, names: &[&str]) -> Result<Report> {
    let is_run = |name: &str| names.contains(&name);
    execute(workspace, &oracle::chips(target)?, &[], false, &is_run)
}

/// A test program on a chip.
struct Job {
    /// The number of the chip.
    chip: usize,
    program: PathBuf,
}

/// What a chip has run.
#[derive(Clone, Default)]
struct Sum {
    cases: u64,
    failed: Vec<String>,
}

fn execute(
    workspace: &Workspace,
    chips: &[Chip],
    args: &[String],
    in_turns: bool,
    is_run: &dyn Fn(&str) -> bool,
) -> Result<Report> {
    let oracle = Oracle::prepare(workspace)?;
    let suite = Suite::build(workspace)?;
    let mut programs = suite.programs.clone();
    programs.retain(|program| is_run(&name_of(program)));
    let coverage = chips.iter().map(|chip| oracle.coverage_file(chip));
    let coverage: Vec<PathBuf> = coverage.collect::<Result<_>>()?;
    // Chip by chip for each program: what two run at a time takes about as long.
    let jobs = programs.iter().flat_map(|program| {
        let job = |chip| Job {
            chip,
            program: program.clone(),
        };
        (0..chips.len()).map(job)
    });
    let sums = Mutex::new(vec![Sum::default(); chips.len()]);
    workers::share(jobs, |job| {
        let chip = &chips[job.chip];
        let mut command = suite.command(&job.program, &chip.target());
        command.args(args);
        oracle.select(&mut command, &chip.architecture, &coverage[job.chip]);
        if in_turns {
            // Each has its own order of waves, the same in every run.
            let seed = (job.chip + 1).to_string();
            command
                .env("QD_TURN", format!("{}/{}", job.chip, chips.len()))
                .env("QD_AMD_ORACLE_SEED", seed);
        }
        let (output, status) = process::collect(&mut command)?;
        let mut sums = sums.lock().expect("nothing panics");
        print!("\n{}: {}\n{output}", chip.target(), name_of(&job.program));
        let sum = &mut sums[job.chip];
        sum.cases += output.lines().filter_map(conformance::cases).sum::<u64>();
        if !status.success() {
            sum.failed.push(name_of(&job.program));
        }
        Ok(())
    })?;
    let sums = sums.into_inner().expect("nothing panics");
    let mut counts = Vec::new();
    println!();
    for ((chip, sum), coverage) in chips.iter().zip(&sums).zip(&coverage) {
        let failed = match &sum.failed[..] {
            [] => String::new(),
            programs => format!("; failed: {}", programs.join(" ")),
        };
        let executed = oracle.coverage(coverage)?;
        println!("{}: {} cases, {executed}{failed}", chip.target(), sum.cases);
        counts.push(format!("{} {}", chip.name(), sum.cases));
    }
    println!(
        "checked against AMD's published pseudocode with {} errata",
        process::capture(&mut oracle.command(&["errata", "--count"]))?.trim()
    );
    let passed = sums.iter().all(|sum| sum.failed.is_empty());
    let total: u64 = sums.iter().map(|sum| sum.cases).sum();
    ensure!(total > 0 || !passed, conformance::nothing_ran(args));
    // Filters may well leave nothing to one chip, but not the whole suite.
    let all_ran = sums.iter().all(|sum| sum.cases > 0) || !args.is_empty();
    Ok(Report {
        passed: passed && all_ran,
        counts: format!("cases: {}", counts.join(", ")),
    })
}
