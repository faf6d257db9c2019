//! `conformance`: the results of everything that a target executes, compared with the interpreter's.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};

use crate::packages::Purpose;
use crate::suite::Report;
use crate::workspace::Workspace;
use crate::{amd, cargo, lavapipe, oracle, packages, process, workers};

/// What Vulkan's targets begin with, as --target of the tools spells them.
const VULKAN: &str = "vulkan:1.3";

/// Runs the suite on a target and says how many cases that were.
pub fn run(workspace: &Workspace, target: &str, args: &[String]) -> Result<()> {
    if target.starts_with(oracle::PREFIX) && !oracle::is_replaced() {
        return amd::run(workspace, target, args);
    }
    let is_vulkan = target.starts_with(VULKAN);
    packages::ensure(match is_vulkan {
        true => Purpose::Test,
        false => Purpose::Build,
    })?;
    // A machine with a GPU may have got its packages otherwise, without the judge of modules.
    let validates = packages::has_program("spirv-val");
    let (cases, passed) = Suite::build(workspace)?.run(target, |command| {
        if is_vulkan {
            lavapipe::widen(command, subgroup_size(target));
        }
        if validates {
            command.env(lavapipe::VALIDATE, "1");
        }
        command.args(args);
    })?;
    println!("\n{target}: {cases} cases ran");
    ensure!(passed, "{target} differs from the interpreter");
    ensure!(cases > 0, nothing_ran(args));
    Ok(())
}

/// The program that runs kernels again and again, which takes a tenth of the time. On a simulated device it finds
/// what one run does, and at another subgroup size what it does at the first.
pub const REPEATED: &str = "endurance";

/// Runs the suite on lavapipe at each of its subgroup sizes.
///
/// What depends on the size runs at each of them; the algorithms, whose cases are many, and what is the same at each size
/// take turns with the sizes: each kernel runs at one. What repeats kernels runs at one size.
pub fn run_on_lavapipe(workspace: &Workspace, args: &[String]) -> Result<Report> {
    lavapipe::is_there()?;
    let suite = Suite::build(workspace)?;
    let all = lavapipe::SUBGROUP_SIZES
        .map(|size| size.to_string())
        .join(",");
    let mut passed = true;
    let mut total = 0;
    let mut counts = Vec::new();
    let others = suite.filtered(|name| name != REPEATED);
    let all = &all;
    let runs = lavapipe::SUBGROUP_SIZES.into_iter().enumerate();
    let runs = runs.map(|(turn, size)| Run {
        suite: if turn == 0 { &suite } else { &others },
        target: format!("{VULKAN},subgroup={size}"),
        set: Box::new(move |command| {
            command
                .env("QD_WAVES", all)
                .env(lavapipe::VALIDATE, "1")
                // They are: nothing may be left out or off.
                .env("QD_FLOATS", "exact")
                .args(args);
            lavapipe::select(command, size);
        }),
    });
    let sums = together(&runs.collect::<Vec<_>>())?;
    for (size, (cases, agrees)) in lavapipe::SUBGROUP_SIZES.into_iter().zip(sums) {
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
/// The targets that they run on with usual lowerings, without the search, at one size each: all sizes take minutes. On Vulkan the
/// search changes next to nothing.
const FIXED: [&str; 2] = ["cpu,wave=8,fixed", "amdgpu:gfx1100,wave=32,fixed"];

/// The programs whose results are the same at every size, but for the algorithms, which take long; and the target on which the
/// search chooses it.
const CHOSEN: [&str; 6] = [
    "aliasing",
    "checked",
    "control",
    "fusion",
    "private_memory",
    "same_bits",
];
const CHOOSING: &str = "cpu,select";

/// The programs whose collectives are also done in each other way that the cpu has, and how many there are at most: by an
/// expansion, and blocks' by three. Control flow that depends on a collective, as in the other programs, takes the target's
/// form alone.
const WAYS: [(&[&str], &str); 3] = [
    (&["simt", "blocks", "forms"], "1"),
    (&["blocks"], "2"),
    (&["blocks"], "3"),
];

/// Runs what is fast and has every collective without the search, which all other runs have; by each of the ways to do
/// it; and what does not depend on the size at the one that is chosen.
pub fn run_fixed(workspace: &Workspace) -> Result<Report> {
    let suite = Suite::build(workspace)?;
    let collectives = suite.only(&COLLECTIVES);
    let chosen = suite.only(&CHOSEN);
    let others = WAYS.map(|(programs, way)| (suite.only(programs), way));
    let [host, chip] = FIXED;
    let run = |suite, target: &str, variable: Option<(&'static str, &'static str)>| Run {
        suite,
        target: target.to_owned(),
        set: Box::new(move |command| _ = command.envs(variable)),
    };
    let mut runs = vec![
        run(&collectives, host, None),
        run(&chosen, CHOOSING, Some(("QD_WAVES", "chosen"))),
    ];
    let ways = others
        .iter()
        .map(|(suite, way)| run(suite, host, Some(("QD_WAY", *way))));
    runs.extend(ways);
    let mut passed = true;
    let mut counts = Vec::new();
    let ways = WAYS.map(|(_, way)| format!("it in way {way}"));
    let names = [host, CHOOSING].map(String::from).into_iter().chain(ways);
    for (name, (cases, agrees)) in names.zip(together(&runs)?) {
        passed &= agrees && cases > 0;
        counts.push(format!("{cases} cases on {name}"));
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

/// The suite's programs, which have been built.
pub struct Suite {
    folder: PathBuf,
    /// Their files.
    pub programs: Vec<PathBuf>,
}

impl Suite {
    /// Builds them.
    pub fn build(workspace: &Workspace) -> Result<Self> {
        let folder = workspace.root().join("tests/conformance");
        let tests = folder.join("tests");
        let entries = tests
            .read_dir()
            .with_context(|| format!("cannot list {}", tests.display()))?;
        let mut names = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let is_program = match path.extension() {
                Some(extension) => extension == "rs",
                None => path.join("main.rs").is_file(),
            };
            if is_program {
                names.push(name_of(&path));
            }
        }
        let programs = cargo::test_files(workspace, &folder, &names)?;
        Ok(Self { folder, programs })
    }

    /// Those of these names.
    fn only(&self, names: &[&str]) -> Self {
        self.filtered(|name| names.contains(&name))
    }

    fn filtered(&self, is_run: impl Fn(&str) -> bool) -> Self {
        let mut programs = self.programs.clone();
        programs.retain(|program| is_run(&name_of(program)));
        Self {
            folder: self.folder.clone(),
            programs,
        }
    }

    /// A program on a target.
    pub fn command(&self, program: &Path, target: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            .env("QD_TARGET", target)
            .arg("--nocapture");
        command
    }

    /// Runs all of them on a target.
    fn run(&self, target: &str, set: impl Fn(&mut Command) + Sync) -> Result<(u64, bool)> {
        let run = Run {
            suite: self,
            target: target.to_owned(),
            set: Box::new(set),
        };
        Ok(together(&[run])?[0])
    }
}

/// Programs on a target.
struct Run<'a> {
    suite: &'a Suite,
    target: String,
    /// Sets each of them up.
    set: Box<dyn Fn(&mut Command) + Sync + 'a>,
}

/// Runs them, and says of each how many cases those were and whether they agree with the interpreter. As many programs as there
/// are cores run at a time: few of them keep all cores busy to their end.
fn together(runs: &[Run<'_>]) -> Result<Vec<(u64, bool)>> {
    let sums = Mutex::new(vec![(0, true); runs.len()]);
    let jobs = runs.iter().enumerate();
    let jobs = jobs.flat_map(|(nth, run)| run.suite.programs.iter().map(move |p| (nth, run, p)));
    workers::share(jobs, |(nth, run, program)| {
        let mut command = run.suite.command(program, &run.target);
        (run.set)(&mut command);
        let (output, status) = process::collect(&mut command)?;
        let mut sums = sums.lock().expect("nothing panics");
        print!("\n{}: {}\n{output}", run.target, name_of(program));
        sums[nth].0 += output.lines().filter_map(cases).sum::<u64>();
        sums[nth].1 &= status.success();
        Ok(())
    })?;
    Ok(sums.into_inner().expect("nothing panics"))
}

/// `simt` of `simt.rs` and of `simt-69df6b7e17126e93`.
pub fn name_of(program: &Path) -> String {
    let stem = program.file_stem().unwrap_or_default().to_string_lossy();
    stem.rsplit_once('-')
        .map_or(&*stem, |(name, _)| name)
        .to_owned()
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
    fn a_program_is_named_as_its_source() {
        let name = |path: &str| name_of(Path::new(path));
        assert_eq!(name("tests/private_memory.rs"), "private_memory");
        assert_eq!(name("target/debug/deps/simt-69df6b7e17126e93"), "simt");
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
