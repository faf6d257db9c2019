//! `smith`: random kernels against the interpreter, and mutants against the compiler.

use std::process::Command;

use anyhow::Result;

use crate::packages::Purpose;
use crate::suite::Report;
use crate::workspace::{Profile, Workspace};
use crate::{cargo, packages, process};

/// The kernels of the tests: the same in every run. Mutants and fresh seeds are for the command,
/// for they still find what is not mended yet.
const ARGUMENTS: &[&str] = &["run", "--turns", "--seed", "1", "--kernels", "300"];

/// Runs `qd-smith` with flags of its own.
pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    packages::ensure(Purpose::Test)?;
    process::run(smith(workspace)?.args(args))
}

/// Kernels of a fixed seed.
pub fn test(workspace: &Workspace) -> Result<Report> {
    let mut counts = String::new();
    let status = process::run_watched(smith(workspace)?.args(ARGUMENTS), |line| {
        if let Some(done) = summary(line) {
            done.clone_into(&mut counts);
        }
    })?;
    Ok(Report {
        passed: status.success(),
        counts,
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
