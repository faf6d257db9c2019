//! `conformance`: everything that a target executes, held against the interpreter.

use anyhow::{Result, ensure};

use crate::packages::Purpose;
use crate::workspace::Workspace;
use crate::{cargo, packages, process};

/// Runs the suite on a target and says how many cases that were.
pub fn run(workspace: &Workspace, target: &str, args: &[String]) -> Result<()> {
    packages::ensure(Purpose::Test)?;
    let mut command = cargo::cargo(workspace);
    command
        .env("QD_TARGET", target)
        .args([
            "test",
            "--package",
            "qd-conformance",
            "--no-fail-fast",
            "--",
        ])
        .arg("--nocapture")
        .args(args);
    let mut total = 0;
    let status = process::run_watched(&mut command, |line| total += cases(line).unwrap_or(0))?;
    println!("\n{target}: {total} cases ran");
    ensure!(status.success(), "{target} differs from the interpreter");
    Ok(())
}

/// `reduce: 532 cases` is 532; tests on several threads may write before it.
fn cases(line: &str) -> Option<u64> {
    let (rest, _) = line.split_once(" cases")?;
    rest.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::cases;

    #[test]
    fn counts_are_read_off_lines() {
        assert_eq!(cases("reduce: 532 cases"), Some(532));
        assert_eq!(cases("test sort ... select: 112 cases"), Some(112));
        assert_eq!(cases("test result: ok. 7 passed"), None);
        assert_eq!(cases("in other cases"), None);
    }
}
