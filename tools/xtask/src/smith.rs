//! `smith`: random kernels against the interpreter, and mutants against the compiler.

use std::process::Command;

use anyhow::Result;

use crate::packages::Purpose;
use crate::suite::Report;
use crate::workspace::{Profile, Workspace};
use crate::{cargo, packages, process};

/// How long a run of the tests takes, each of two.
const TIME: &str = "80s";
/// More than there is time for: the clock ends the run. One kernel for so many mutants.
const KERNELS: &str = "100000";
const MUTANTS: &str = "2000000";
/// The seed that is the same in every run.
const FIXED: &str = "1";

/// Runs `qd-smith` with flags of its own.
pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    packages::ensure(Purpose::Test)?;
    process::run(smith(workspace)?.args(args))
}

/// A fixed seed, and then one that the clock chooses, which finds what nobody has looked for.
pub fn test(workspace: &Workspace) -> Result<Report> {
    let mut passed = true;
    let mut counts = Vec::new();
    for seed in [Some(FIXED), None] {
        let mut command = smith(workspace)?;
        command.args(["run", "--turns", "--time", TIME]);
        command.args(["--kernels", KERNELS, "--mutants", MUTANTS]);
        if let Some(seed) = seed {
            command.args(["--seed", seed]);
        }
        let status = process::run_watched(&mut command, |line| {
            counts.extend(summary(line).map(str::to_string));
        })?;
        passed &= status.success();
    }
    Ok(Report {
        passed,
        counts: counts.join("; "),
    })
}

fn smith(workspace: &Workspace) -> Result<Command> {
    process::run(cargo::cargo(workspace).args(["build", "--package", "qd-smith"]))?;
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
