//! `lit`: the suite of `tests/filecheck`.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::process;
use crate::suite::Report;
use crate::workspace::{LLVM_PREFIX, PYTHON, Profile, Workspace};

/// Runs lit on the given paths and options, on the whole suite if there is no path. The tools must
/// be built.
///
/// The dev profile: a rebuild after an edit takes about a second there, and no test is long enough
/// to win that back.
pub fn run(workspace: &Workspace, args: &[OsString]) -> Result<Report> {
    let mut command = Command::new(PYTHON);
    command
        .arg(format!("{LLVM_PREFIX}/bin/lit"))
        .arg("-v")
        .args(args);
    if !args.iter().any(names_a_path) {
        command.arg(workspace.root().join("tests/filecheck"));
    }
    command.env("QD_BIN_DIR", workspace.bin_dir(Profile::Dev));
    // The tools must start as a person starts them, without the toolchain's folders in the search
    // path.
    command.env_remove("LD_LIBRARY_PATH");

    let mut counts = Vec::new();
    let status = process::run_watched(&mut command, |line| counts.extend(count(line)))?;
    Ok(Report {
        passed: status.success(),
        counts: counts.join(", "),
    })
}

/// Whether an argument is a path rather than an option or an option's value. A mistyped path is one:
/// lit says that it holds no tests, where running everything instead would hide the mistake.
fn names_a_path(arg: &OsString) -> bool {
    let text = arg.to_string_lossy();
    !text.starts_with('-')
        && (text.contains('/') || text.ends_with(".mlir") || Path::new(arg).exists())
}

/// A line of lit's closing table, "  Passed     : 12 (92.31%)", in our words.
fn count(line: &str) -> Option<String> {
    let (what, number) = line.strip_prefix("  ")?.split_once(": ")?;
    let number: usize = number.split_whitespace().next()?.parse().ok()?;
    Some(format!("{number} {}", what.trim().to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_not_paths() {
        for (arg, path) in [
            ("-a", false),
            ("--filter=a/b", false),
            ("fuse-phases", false),
            ("src", true),
            ("passes/mistyped", true),
            ("mistyped.mlir", true),
        ] {
            assert_eq!(names_a_path(&arg.into()), path, "{arg}");
        }
    }

    #[test]
    fn counts_are_read_from_the_closing_table() {
        assert_eq!(
            count("  Passed     : 12 (92.31%)").as_deref(),
            Some("12 passed")
        );
        assert_eq!(
            count("  Expectedly Failed:  1 (7.69%)").as_deref(),
            Some("1 expectedly failed")
        );
        assert_eq!(count("Testing Time: 0.30s"), None);
        assert_eq!(count("Total Discovered Tests: 13"), None);
    }
}
