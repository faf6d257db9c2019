//! `python`: the tests of the Python package, against the extension of the workspace's build.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};

use crate::environment::Environment;
use crate::oracle::{self, Oracle};
use crate::suite::Report;
use crate::workspace::{PYTHON, Profile, Workspace, emptied};
use crate::{lavapipe, process, workers};

/// The devices that every machine with the tests' packages has, those first that take longest, and the tests that run on
/// each; none are all.
const ARCHES: [(&str, &[&str]); 4] = [
    (AMD, &[]),
    (VULKAN, &[]),
    (CPU, &[]),
    (OF_64_LANES, SUBGROUPS),
];
/// Tests of what depends on how many lanes there are.
const SUBGROUPS: &[&str] = &[
    "test_block.py",
    "test_reductions.py",
    "test_subgroup.py",
    "test_warp.py",
];
const OF_64_LANES: &str = "amdgpu:gfx942";
const AMD: &str = "amdgpu";
const CPU: &str = "cpu";
const VULKAN: &str = "vulkan";
/// What the oracle executes, unless a person has a GPU or names another.
const AMD_CHIP: &str = "gfx1100";
/// Of how many of a test's parameters one is executed there, where all devices are tested: it takes longest.
const EVERY: &str = "--every=3";
/// Lanes in a subgroup there, which lavapipe has unless it is told otherwise.
const LANES: u32 = 8;

/// Puts the package together and runs its tests.
pub fn test(workspace: &Workspace) -> Result<Report> {
    run(workspace, Path::new(PYTHON), None, &[])
}

/// As [`test()`], with an interpreter, on one device if it is given, with arguments for pytest.
pub fn run(
    workspace: &Workspace,
    python: &Path,
    arch: Option<&str>,
    args: &[OsString],
) -> Result<Report> {
    let path = assembled(workspace)?;
    let is_whole = arch.is_none() && args.is_empty();
    let arches: Vec<_> = match arch {
        Some(arch) => vec![(arch, args.to_vec())],
        // Those of some tests run no others.
        None => ARCHES
            .iter()
            .filter(|(_, tests)| args.is_empty() || tests.is_empty())
            .map(|(arch, tests)| {
                (
                    *arch,
                    tests
                        .iter()
                        .map(OsString::from)
                        .chain(args.to_vec())
                        .collect(),
                )
            })
            .collect(),
    };
    // Halves, so that no core waits for the other's last device.
    let parts = if is_whole { 2 } else { 1 };
    let jobs = arches
        .iter()
        .flat_map(|(arch, args)| (0..parts).map(move |part| (*arch, args, part)));
    let reports: Mutex<BTreeMap<&str, (Counts, bool)>> = Mutex::default();
    workers::share(jobs, |(arch, args, part)| {
        let mut command = command(workspace, &path, python, arch, args)?;
        command.arg(format!("--part={part}/{parts}"));
        if arch.starts_with(AMD) && arches.len() > 1 {
            command.arg(EVERY);
        }
        let (text, status) = process::collect(&mut command)?;
        let mut reports = reports.lock().expect("nothing panics");
        println!("on {arch}:\n{text}");
        let (counts, passed) = reports.entry(arch).or_insert((Counts::new(), true));
        let last = text.lines().filter_map(summary).next_back();
        add(counts, last.unwrap_or_default());
        *passed &= status.success();
        Ok(())
    })?;
    let reports = reports.into_inner().expect("nothing panics");
    let counts = reports.iter().map(|(arch, (counts, _))| {
        let counts = counts.iter().map(|(what, count)| format!("{count} {what}"));
        let counts = counts.collect::<Vec<_>>().join(", ");
        let counts = if counts.is_empty() {
            "nothing ran"
        } else {
            &counts
        };
        format!("{counts} on {arch}")
    });
    Ok(Report {
        counts: counts.collect::<Vec<_>>().join("; "),
        passed: reports.values().all(|(_, passed)| *passed),
    })
}

/// How many tests passed, failed and the like.
type Counts = BTreeMap<String, usize>;

/// Adds what a last line says, as in `3 passed, 1 failed`.
fn add(counts: &mut Counts, line: &str) {
    let each = line.split(", ").filter_map(|each| each.split_once(' '));
    for (count, what) in each.filter_map(|(count, what)| Some((count.parse::<usize>().ok()?, what)))
    {
        *counts.entry(what.to_owned()).or_default() += count;
    }
}

/// The package as it is installed: its sources, and the extension among them. The folder that it is in.
fn assembled(workspace: &Workspace) -> Result<PathBuf> {
    let built = workspace.bin_dir(Profile::Dev).join("lib_core.so");
    ensure!(
        built.is_file(),
        "there is no {}\n  make it with: cargo build --workspace",
        built.display()
    );
    let path = workspace.target().join("python");
    let package = emptied(path.join("qd"))?;
    let sources = workspace.root().join("frontend/python/qd");
    let entries = fs::read_dir(&sources);
    for entry in entries.with_context(|| format!("cannot list {}", sources.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            copy(&entry.path(), &package.join(entry.file_name()))?;
        }
    }
    copy(&built, &package.join("_core.abi3.so"))?;
    Ok(path)
}

/// What runs the tests on a device.
fn command(
    workspace: &Workspace,
    path: &Path,
    python: &Path,
    arch: &str,
    args: &[OsString],
) -> Result<Command> {
    let sources = workspace.root().join("frontend/python");
    let tests = sources.join("tests");
    let mut command = Command::new(python);
    let (arch, chip) = match arch.split_once(':') {
        Some((AMD, chip)) => (AMD, chip),
        _ => (arch, AMD_CHIP),
    };
    if arch == VULKAN {
        lavapipe::is_there()?;
        lavapipe::select(&mut command, LANES);
    }
    if arch == AMD && !oracle::is_replaced() {
        let oracle = Oracle::prepare(workspace)?;
        let chips = oracle::chips(chip)?;
        let chip = chips.first().context("each architecture has a wave")?;
        oracle.select(
            &mut command,
            &chip.architecture,
            &oracle.coverage_file(chip)?,
        );
    }
    let mut packages = vec![path.to_owned()];
    packages.extend(Environment::of_python_tests(workspace).packages()?);
    command
        // From the package's folder: the sources without an extension are beside the tests.
        .current_dir(path)
        .env("PYTHONPATH", env::join_paths(packages)?)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir"])
        .arg(&sources);
    // What is set overrides what a test asks for, which those of the cpu do.
    match arch {
        CPU => command.env_remove("QD_ARCH"),
        _ => command.env("QD_ARCH", arch),
    };
    let is_test = |arg: &OsString| arg.to_string_lossy().starts_with("test_");
    if !args.iter().any(is_test) {
        command.arg(&tests);
    }
    for arg in args {
        match is_test(arg) {
            true => command.arg(tests.join(arg)),
            false => command.arg(arg),
        };
    }
    Ok(command)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
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

    #[test]
    fn parts_are_added_up() {
        let mut counts = Counts::new();
        add(&mut counts, "1 failed, 78 passed");
        add(&mut counts, "5 passed, 2 skipped");
        add(&mut counts, "");
        let known = [("failed", 1), ("passed", 83), ("skipped", 2)];
        let known = known.map(|(what, count)| (what.to_owned(), count));
        assert_eq!(counts, Counts::from(known));
    }
}
