//! `conformance`: the results of everything that a target executes, compared with the interpreter's.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::packages::Purpose;
use crate::suite::Report;
use crate::workspace::Workspace;
use crate::{amd, cargo, lavapipe, oracle, packages, process};

/// What Vulkan's targets begin with, as --target of the tools spells them.
const VULKAN: &str = "vulkan:1.3";

/// Runs the suite on a target and says how many cases that were.
pub fn run(workspace: &Workspace, target: &str, args: &[String]) -> Result<()> {
    if target.starts_with(oracle::PREFIX) && !oracle::is_replaced() {
        return amd::run(workspace, target, args);
    }
    let mut command = suite(workspace, target, &programs(workspace)?);
    packages::ensure(if target.starts_with(VULKAN) {
        lavapipe::widen(&mut command, subgroup_size(target));
        Purpose::Test
    } else {
        Purpose::Build
    })?;
    command.args(args);
    // A machine with a GPU may have got its packages otherwise, without the judge of modules.
    if packages::has_program("spirv-val") {
        command.env(lavapipe::VALIDATE, "1");
    }
    let (cases, passed) = count(&mut command)?;
    println!("\n{target}: {cases} cases ran");
    ensure!(passed, "{target} differs from the interpreter");
    ensure!(cases > 0, nothing_ran(args));
    Ok(())
}

/// Runs the suite on lavapipe at each of its subgroup sizes.
///
/// What depends on the size runs at each of them; the algorithms, whose cases are many, take turns
/// with the sizes, in such a way that each kind, type, capacity and input meets each size.
pub fn run_on_lavapipe(workspace: &Workspace, args: &[String]) -> Result<Report> {
    lavapipe::is_there()?;
    let programs = programs(workspace)?;
    let all = lavapipe::SUBGROUP_SIZES
        .map(|size| size.to_string())
        .join(",");
    let mut passed = true;
    let mut total = 0;
    let mut counts = Vec::new();
    for size in lavapipe::SUBGROUP_SIZES {
        let mut command = suite(workspace, &format!("{VULKAN},subgroup={size}"), &programs);
        command
            .env("QD_WAVES", &all)
            .env(lavapipe::VALIDATE, "1")
            // They are: nothing may be left out or off.
            .env("QD_FLOATS", "exact")
            .args(args);
        lavapipe::select(&mut command, size);
        let (cases, agrees) = count(&mut command)?;
        // Filters may well leave nothing to one size, but not the whole suite.
        passed &= agrees && (cases > 0 || !args.is_empty());
        counts.push(format!("{cases} cases at {size}"));
        total += cases;
    }
    ensure!(total > 0 || !passed, nothing_ran(args));
    Ok(Report {
        passed,
        counts: counts.join(", "),
    })
}

/// The programs of single collectives.
const COLLECTIVES: [&str; 4] = ["simt", "subgroups", "blocks", "forms"];
/// The targets that they run on with lowerings that are searched for, at one size each: all sizes take minutes.
const SELECTED: [&str; 2] = ["cpu,wave=8,select", "amdgpu:gfx1100,wave=32,select"];

/// Lavapipe, at one size, likewise.
const SELECTED_VULKAN: (&str, u32) = ("vulkan:1.3,subgroup=8,select", 8);
/// The programs whose results are the same at every size, and the target on which the search chooses it.
const CHOSEN: [&str; 4] = ["aliasing", "control", "fusion", "private_memory"];
const CHOOSING: &str = "cpu,select";

/// Runs what is fast and has every collective with lowerings that are searched for; and what does not depend on the
/// size at the one that is chosen.
pub fn run_selected(workspace: &Workspace) -> Result<Report> {
    lavapipe::is_there()?;
    let [host, chip] = SELECTED;
    let (vulkan, lanes) = SELECTED_VULKAN;
    let mut on_lavapipe = suite(workspace, vulkan, &COLLECTIVES);
    on_lavapipe.env(lavapipe::VALIDATE, "1");
    lavapipe::select(&mut on_lavapipe, lanes);
    let mut chosen = suite(workspace, CHOOSING, &CHOSEN);
    chosen.env("QD_WAVES", "chosen");
    let mut passed = true;
    let mut counts = Vec::new();
    for (target, mut command) in [
        (host, suite(workspace, host, &COLLECTIVES)),
        (CHOOSING, chosen),
        (vulkan, on_lavapipe),
    ] {
        let (cases, agrees) = count(&mut command)?;
        passed &= agrees && cases > 0;
        counts.push(format!("{cases} cases on {target}"));
    }
    let simulated = amd::run_programs(workspace, chip, &COLLECTIVES)?;
    counts.push(simulated.counts);
    Ok(Report {
        passed: passed && simulated.passed,
        counts: counts.join("; "),
    })
}

/// A filter that is misspelt passes no case, and must not pass for a suite that
/// agrees.
pub fn nothing_ran(args: &[String]) -> String {
    let list = "cargo test --package qd-conformance -- --list";
    match args.is_empty() {
        true => format!("no case ran: {list} shows the tests"),
        false => format!(
            "no case ran: nothing matches {}; {list} shows the tests",
            args.join(" ")
        ),
    }
}

/// The names of the suite's programs, sorted.
pub fn programs(workspace: &Workspace) -> Result<Vec<String>> {
    let folder = workspace.root().join("tests/conformance/tests");
    let entries = folder
        .read_dir()
        .with_context(|| format!("cannot list {}", folder.display()))?;
    let mut programs = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_program = match path.extension() {
            Some(extension) => extension == "rs",
            None => path.join("main.rs").is_file(),
        };
        if is_program {
            programs.extend(
                path.file_stem()
                    .map(|name| name.to_string_lossy().into_owned()),
            );
        }
    }
    programs.sort();
    Ok(programs)
}

/// Programs of the suite on a target.
fn suite(workspace: &Workspace, target: &str, programs: &[impl AsRef<str>]) -> Command {
    let mut command = cargo::test(workspace, programs);
    command
        .env("QD_TARGET", target)
        .args(["--no-fail-fast", "--", "--nocapture"]);
    command
}

/// How many cases ran, and whether all of them agree with the interpreter.
fn count(command: &mut Command) -> Result<(u64, bool)> {
    let mut total = 0;
    let status = process::run_watched(command, |line| total += cases(line).unwrap_or(0))?;
    Ok((total, status.success()))
}

/// `reduce: 532 cases` is 532; tests on several threads may write before it.
pub fn cases(line: &str) -> Option<u64> {
    let (rest, _) = line.split_once(" cases")?;
    rest.rsplit(' ').next()?.parse().ok()
}

/// The size that a target names.
fn subgroup_size(target: &str) -> Option<u32> {
    let mut options = target.split(',');
    options.find_map(|option| option.strip_prefix("subgroup=")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_off_lines() {
        assert_eq!(cases("reduce: 532 cases"), Some(532));
        assert_eq!(cases("test sort ... select: 112 cases"), Some(112));
        assert_eq!(cases("test result: ok. 7 passed"), None);
        assert_eq!(cases("in other cases"), None);
    }

    #[test]
    fn a_filter_that_matches_nothing_is_named() {
        let message = nothing_ran(&["nosuch".to_owned()]);
        assert!(
            message.starts_with("no case ran: nothing matches nosuch;"),
            "{message}"
        );
    }

    #[test]
    fn a_target_may_name_a_size() {
        assert_eq!(subgroup_size("vulkan:1.3,subgroup=16"), Some(16));
        assert_eq!(subgroup_size("vulkan:1.3"), None);
    }
}
