//! `python`: the tests of the Python package, against the extension of the workspace's build.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::process;
use crate::suite::Report;
use crate::workspace::{PYTHON, Profile, Workspace, emptied};

/// Puts the package together and runs its tests.
pub fn test(workspace: &Workspace) -> Result<Report> {
    let built = workspace.bin_dir(Profile::Dev).join("lib_core.so");
    ensure!(
        built.is_file(),
        "there is no {}\n  make it with: cargo build --workspace",
        built.display()
    );
    let sources = workspace.root().join("frontend/python");
    let path = workspace.target().join("python");
    let package = emptied(path.join("qd"))?;
    // An installed package looks the same: its sources, and the extension among them.
    let entries = fs::read_dir(sources.join("qd"));
    for entry in entries.with_context(|| format!("cannot list {}", sources.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            copy(&entry.path(), &package.join(entry.file_name()))?;
        }
    }
    copy(&built, &package.join("_core.abi3.so"))?;

    let mut counts = String::new();
    let status = process::run_watched(
        // From the package's folder: the sources without an extension are beside the tests.
        Command::new(PYTHON)
            .current_dir(&path)
            .env("PYTHONPATH", &path)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir"])
            .arg(&sources)
            .arg(sources.join("tests")),
        |line| {
            if let Some(summary) = summary(line) {
                counts = summary.into();
            }
        },
    )?;
    Ok(Report {
        passed: status.success(),
        counts,
    })
}

fn copy(from: &std::path::Path, to: &std::path::Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}

/// Of the last line, `3 passed, 1 failed in 1.25s`, how many.
fn summary(line: &str) -> Option<&str> {
    let (counts, time) = line.rsplit_once(" in ")?;
    let is_last = counts.contains(" passed") || counts.contains(" failed");
    (is_last && time.starts_with(|c: char| c.is_ascii_digit())).then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts() {
        assert_eq!(
            summary("1 failed, 78 passed in 8.43s"),
            Some("1 failed, 78 passed")
        );
        assert_eq!(summary("79 passed in 75.20s (0:01:15)"), Some("79 passed"));
        assert_eq!(summary("what passed in kernels"), None);
    }
}
