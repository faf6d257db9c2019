//! The bench's algorithms on 4-byte elements and its set of kernels of one body, as text and as runs that the oracle counts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::oracle::{self, Chip, Oracle};
use crate::process;
use crate::workspace::{Profile, Workspace};

/// The rows of the bench that are taken.
pub const ELEMENT: &str = "u32";

/// What the bench calls the set of kernels of one body.
const SET: &str = "waves";

/// Of the elements of their launches.
const SET_LOG2: u32 = 12;

/// A tool of the workspace, in the dev profile.
pub fn tool(workspace: &Workspace, name: &str) -> Command {
    Command::new(workspace.bin_dir(Profile::Dev).join(name))
}

/// Has the bench write the text of these rows into a folder. Returns the files, by name.
pub fn write(workspace: &Workspace, arguments: &[&str], folder: &Path) -> Result<Vec<PathBuf>> {
    let mut write = tool(workspace, "qd-bench");
    write.args(arguments).arg("--kernels").arg(folder);
    process::capture(&mut write)?;
    let mut files: Vec<_> = fs::read_dir(folder)?
        .map(|file| Ok(file?.path()))
        .collect::<Result<_>>()?;
    files.sort();
    Ok(files)
}

/// The text of every algorithm.
pub fn write_all(workspace: &Workspace, folder: &Path) -> Result<Vec<PathBuf>> {
    let target = oracle::all()[0].target();
    write(workspace, &["--target", &target, "--only", ELEMENT], folder)
}

/// The text of every kernel of the set.
pub fn write_set(workspace: &Workspace, folder: &Path) -> Result<Vec<PathBuf>> {
    let log2 = SET_LOG2.to_string();
    write(workspace, &["--only", SET, "--log2", &log2], folder)
}

/// What a row's file is called, without what the name ends with.
pub fn row_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let row = name.trim_end_matches(".mlir").trim_end_matches(".held-out");
    row.trim_end_matches(&format!(".{ELEMENT}")).to_owned()
}

/// Runs rows of the bench in the oracle, on so many elements. What launches execute is in a new file.
fn count(
    workspace: &Workspace,
    oracle: &Oracle,
    chip: &Chip,
    (only, log2): (&str, u32),
    flags: &[&str],
    to: &Path,
) -> Result<()> {
    fs::write(to, "").with_context(|| format!("cannot write {}", to.display()))?;
    let mut bench = tool(workspace, "qd-bench");
    bench.args(["--target", &chip.target(), "--only", only]);
    bench.args(["--log2", &log2.to_string()]).args(flags);
    oracle.select(&mut bench, &chip.architecture, to);
    process::capture(&mut bench).map(drop)
}

/// Each kernel of the set, once.
pub fn count_set(workspace: &Workspace, oracle: &Oracle, chip: &Chip, to: &Path) -> Result<()> {
    count(workspace, oracle, chip, (SET, SET_LOG2), &["--once"], to)
}

/// As an algorithm is run alone, once to be checked and once more.
pub fn count_algorithm(
    workspace: &Workspace,
    oracle: &Oracle,
    chip: &Chip,
    (row, log2): (&str, u32),
    to: &Path,
) -> Result<()> {
    let only = format!("{row} {ELEMENT}");
    let flags = ["--alone", "--repeats", "1"];
    count(workspace, oracle, chip, (&only, log2), &flags, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_called_as_in_the_bench() {
        let row = |file: &str| row_of(Path::new(file));
        assert_eq!(row("a/sum_f32.held-out.mlir"), "sum_f32");
        assert_eq!(row("a/reduce by key.u32.mlir"), "reduce by key");
        assert_eq!(row("a/gather_i32.mlir"), "gather_i32");
    }
}
