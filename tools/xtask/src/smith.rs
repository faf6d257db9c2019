//! `smith`: random kernels against the interpreter, and mutants against the compiler.

use std::process::Command;

use anyhow::Result;

use crate::packages::Purpose;
use crate::suite::Report;
use crate::workspace::{Profile, Workspace};
use crate::{cargo, packages, process};

/// What the tests try: the same in every run, and what nobody has tried before.
const ARGUMENTS: &[&str] = &[
    "run --turns --seed 1 --kernels 300 --mutants 4000",
    "run --turns --time 60s --kernels 100000 --mutants 1000000",
];

/// Runs `qd-smith` with flags of its own.
pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    packages::ensure(Purpose::Test)?;
    process::run(smith(workspace)?.args(args))
}

/// Kernels and mutants of a fixed seed, then of a fresh one, which is printed.
pub fn test(workspace: &Workspace) -> Result<Report> {
    let mut report = Report {
        passed: true,
        counts: String::new(),
    };
    for arguments in ARGUMENTS {
        let mut run = smith(workspace)?;
        let status = process::run_watched(run.args(arguments.split(' ')), |line| {
            if let Some(done) = summary(line) {
                let comma = if report.counts.is_empty() { "" } else { "; " };
                report.counts += &format!("{comma}{done}");
            }
        })?;
        report.passed &= status.success();
    }
    Ok(report)
}

fn smith(workspace: &Workspace) -> Result<Command> {
    process::run(cargo::cargo(workspace).args([
        "build",
        "--package",
        "qd-smith",
        "--package",
        "qd-translate",
    ]))?;
    let mut command = Command::new(workspace.bin_dir(Profile::Dev).join("qd-smith"));
    command.current_dir(workspace.root());
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
