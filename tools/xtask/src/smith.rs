//! `smith`: random kernels against the interpreter, and mutants against the compiler.

use std::process::Command;

use anyhow::{Result, ensure};
use clap::Subcommand;

use crate::oracle::{self, Chip, Oracle};
use crate::packages::Purpose;
use crate::suite::Report;
use crate::workspace::{Profile, Workspace};
use crate::{cargo, packages, planted, process};

/// What the tests try: the same in every run, a few of these in AMD's oracle, a few translated for Metal, and what has not been
/// tried before.
const ARGUMENTS: &[&str] = &[
    "run --turns --seed 1 --kernels 200 --mutants 3000",
    "run --turns --seed 1 --kernels 40 --target amdgpu:gfx1100,wave=32 --target amdgpu:gfx1100,wave=64",
    "run --turns --seed 1 --kernels 40 --target metal,subgroup=32",
    "run --turns --time 30s --kernels 100000 --mutants 1000000",
];

/// What `cargo xtask smith` does.
#[derive(Subcommand)]
pub enum What {
    /// Plant defects one at a time, and look for each with random kernels
    ///
    /// Each patch in tools/qd-smith/tests/planted is applied to a copy of the last commit, in
    /// target/planted, and kernels are tried on all targets in turn until a failure is found, for ten
    /// minutes at most. Prints a table, and exits with 1 if a defect was not found, or if a failure
    /// is found in as many kernels without a defect. All defects together take more than an hour.
    ///
    /// Examples:
    ///   cargo xtask smith planted
    ///   cargo xtask smith planted cpu-rotate-tile --seed 7
    #[command(verbatim_doc_comment)]
    Planted {
        /// Names of patches, without .patch; all unless given
        names: Vec<String>,
        /// The first kernel's seed
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// All other subcommands are passed to qd-smith. Targets of AMD's run in the oracle, of one architecture at a time,
    /// unless QD_HIP_LIBRARY names a GPU's library.
    #[command(external_subcommand)]
    Other(Vec<String>),
}

/// Plants defects, or runs `qd-smith` with flags of its own.
pub fn run(workspace: &Workspace, what: &What) -> Result<()> {
    match what {
        What::Planted { names, seed } => planted::run(workspace, names, *seed),
        What::Other(args) => {
            packages::ensure(Purpose::Test)?;
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            process::run(&mut smith(workspace, &args)?)
        }
    }
}

/// Kernels and mutants of a fixed seed, then of a fresh one, which is printed.
pub fn test(workspace: &Workspace) -> Result<Report> {
    let mut report = Report {
        passed: true,
        counts: String::new(),
    };
    for arguments in ARGUMENTS {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let status = process::run_watched(&mut smith(workspace, &arguments)?, |line| {
            if let Some(done) = summary(line) {
                let comma = if report.counts.is_empty() { "" } else { "; " };
                report.counts += &format!("{comma}{done}");
            }
        })?;
        report.passed &= status.success();
    }
    Ok(report)
}

/// `qd-smith` with these arguments, in the oracle where they name targets of AMD's.
fn smith(workspace: &Workspace, arguments: &[&str]) -> Result<Command> {
    cargo::build_tools(workspace, Profile::Dev)?;
    let mut command = Command::new(workspace.bin_dir(Profile::Dev).join("qd-smith"));
    command.current_dir(workspace.root()).args(arguments);
    // As `--target NAME` or `--target=NAME`.
    let amd = arguments.iter().filter_map(|argument| {
        let name = argument.strip_prefix("--target=").unwrap_or(argument);
        name.starts_with(oracle::PREFIX).then_some(name)
    });
    let chips: Vec<Chip> = amd.map(oracle::chips).collect::<Result<Vec<_>>>()?.concat();
    if let Some(chip) = chips.first()
        && !oracle::is_replaced()
    {
        let is_one = chips
            .iter()
            .all(|other| other.architecture == chip.architecture);
        ensure!(
            is_one,
            "the oracle is one architecture at a time, as a device is"
        );
        let oracle = Oracle::prepare(workspace)?;
        let coverage = oracle.coverage_file(chip)?;
        oracle.select(&mut command, &chip.architecture, &coverage);
    }
    Ok(command)
}

/// The line that says how much was tried, without what it took.
fn summary(line: &str) -> Option<&str> {
    let (done, time) = line.rsplit_once("; ")?;
    (done.contains(" kernels, ") && time.ends_with(" s")).then_some(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_counts_is_found() {
        let line = "40 kernels, 1 faulted in the interpreter, 39 comparisons; 900 mutants, 700 rejected; 80 s";
        let done =
            "40 kernels, 1 faulted in the interpreter, 39 comparisons; 900 mutants, 700 rejected";
        assert_eq!(summary(line), Some(done));
        assert_eq!(summary("nothing found"), None);
    }
}
