//! `test`: everything that must pass, step by step, with one table at the end.

use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::packages::Purpose;
use crate::workspace::{Profile, Workspace};
use crate::{
    amd, cargo, conformance, docs, environment, lavapipe, linkage, lit, oracle, packages, process,
    python, smith, workers,
};

/// How a step ended.
pub struct Report {
    /// Whether all that it ran passed.
    pub passed: bool,
    /// How much that was, as in "12 passed, 1 failed".
    pub counts: String,
}

impl Report {
    fn passed(counts: String) -> Self {
        Self {
            passed: true,
            counts,
        }
    }

    /// For a command that is one step alone.
    pub fn into_result(self) -> Result<()> {
        if !self.passed {
            bail!(
                "{}",
                if self.counts.is_empty() {
                    "nothing ran"
                } else {
                    &self.counts
                }
            );
        }
        Ok(())
    }
}

struct Step {
    name: &'static str,
    /// The command that runs this step alone.
    rerun: &'static str,
    /// Whether the steps after this one are pointless without it.
    needed: bool,
    run: fn(&Workspace) -> Result<Report>,
}

const STEPS: &[Step] = &[
    Step {
        name: "setup",
        rerun: "cargo xtask setup",
        needed: true,
        run: setup,
    },
    Step {
        name: "build",
        rerun: "cargo build --workspace --all-targets",
        needed: true,
        run: build,
    },
    Step {
        name: "cargo test",
        rerun: "cargo test --workspace",
        needed: false,
        run: cargo_test,
    },
    Step {
        name: "examples",
        rerun: "cargo run -p qd-frontend --example NAME, cargo run -p embed",
        needed: false,
        run: examples,
    },
    Step {
        name: "arrays on vulkan",
        rerun: "QD_DEVICE=vulkan:0 cargo test --workspace --test resident --test overlapping --test array_expressions --test programs",
        needed: false,
        run: arrays_on_vulkan,
    },
    Step {
        name: "vulkan",
        rerun: "cargo xtask conformance --lavapipe",
        needed: false,
        run: |workspace| conformance::run_on_lavapipe(workspace, &[]),
    },
    Step {
        name: "amd oracle",
        rerun: "cargo xtask test-oracle",
        needed: false,
        run: oracle::test,
    },
    Step {
        name: "amd",
        rerun: "cargo xtask conformance --amd",
        needed: false,
        run: |workspace| amd::run_in_turns(workspace, &[]),
    },
    Step {
        name: "fixed",
        rerun: "cargo xtask conformance --fixed",
        needed: false,
        run: conformance::run_fixed,
    },
    Step {
        name: "lit",
        rerun: "cargo xtask lit",
        needed: false,
        run: |workspace| lit::run(workspace, &[]),
    },
    Step {
        name: "smith",
        rerun: "cargo xtask smith run --turns --kernels 200 --mutants 3000 --seed 1",
        needed: false,
        run: smith::test,
    },
    Step {
        name: "python",
        rerun: "cargo xtask python",
        needed: false,
        run: python::test,
    },
    Step {
        name: "one LLVM",
        rerun: "cargo xtask check-linkage",
        needed: false,
        run: one_llvm,
    },
    Step {
        name: "docs",
        rerun: "cargo xtask docs --check",
        needed: false,
        run: docs_current,
    },
];

fn setup(workspace: &Workspace) -> Result<Report> {
    packages::ensure(Purpose::Test)?;
    environment::install(workspace)?;
    Ok(Report::passed("all packages are there".into()))
}

fn build(workspace: &Workspace) -> Result<Report> {
    process::run(cargo::cargo(workspace).args(["build", "--workspace", "--all-targets"]))?;
    Ok(Report::passed(String::new()))
}

/// What `cargo test --workspace` runs, as many programs at a time as there are cores: one after another each waits for its
/// longest test.
fn cargo_test(workspace: &Workspace) -> Result<Report> {
    let total = Mutex::new((Tally::default(), true));
    workers::share(cargo::test_programs(workspace)?, |mut program| {
        lavapipe::select(&mut program, LANES);
        program.env(lavapipe::VALIDATE, "1");
        let (output, status) = process::collect(&mut program)?;
        let mut total = total.lock().expect("nothing panics");
        println!("\n{}\n{output}", process::describe(&program));
        output.lines().for_each(|line| total.0.add(line));
        total.1 &= status.success();
        Ok(())
    })?;
    let (mut total, passed) = total.into_inner().expect("nothing panics");
    let mut examples = cargo::cargo(workspace);
    examples.args(["test", "--workspace", "--doc", "--no-fail-fast"]);
    let status = process::run_watched(&mut examples, |line| total.add(line))?;
    Ok(Report {
        passed: passed && status.success(),
        counts: total.to_string(),
    })
}

/// Lanes of lavapipe's subgroups in tests of the library.
const LANES: u32 = 8;

/// Runs tests, and counts them; what they run on Vulkan on lavapipe.
fn on_lavapipe(mut command: Command) -> Result<Report> {
    lavapipe::select(&mut command, LANES);
    let mut total = Tally::default();
    let status = process::run_watched(&mut command, |line| total.add(line))?;
    Ok(Report {
        passed: status.success(),
        counts: total.to_string(),
    })
}

/// What arrays that stay on a device promise, on lavapipe.
fn arrays_on_vulkan(workspace: &Workspace) -> Result<Report> {
    let programs = ["resident", "overlapping", "array_expressions", "programs"];
    let mut command = cargo::test(workspace, &programs);
    command.env("QD_DEVICE", "vulkan:0");
    on_lavapipe(command)
}

/// Programs that check their own results.
const EXAMPLES: [&str; 5] = [
    "resident",
    "two_streams",
    "recording",
    "compile",
    "dispatch",
];

fn examples(workspace: &Workspace) -> Result<Report> {
    // As the workspace's build has made them: `cargo run` of one package would build most of it again.
    let folder = workspace.bin_dir(Profile::Dev);
    let examples = EXAMPLES.map(|name| folder.join("examples").join(name));
    for program in examples.into_iter().chain([folder.join("embed")]) {
        process::run(Command::new(program).current_dir(workspace.root()))?;
    }
    Ok(Report::passed(format!("{} programs", EXAMPLES.len() + 1)))
}

fn one_llvm(workspace: &Workspace) -> Result<Report> {
    linkage::check(workspace, Profile::Dev).map(|tools| Report::passed(format!("{tools} tools")))
}

fn docs_current(workspace: &Workspace) -> Result<Report> {
    docs::check(workspace).map(|pages| Report::passed(format!("{pages} pages")))
}

/// Runs all steps, prints the table, and fails if one did.
pub fn run(workspace: &Workspace) -> Result<()> {
    let start = Instant::now();
    let mut rows = Vec::new();
    let mut failed = Vec::new();
    let mut stopped = false;
    for step in STEPS {
        if stopped {
            rows.push(row(step, "not run", None, ""));
            continue;
        }
        eprintln!("\n== {} ==", step.name);
        let begin = Instant::now();
        let report = (step.run)(workspace).unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            Report {
                passed: false,
                counts: String::new(),
            }
        });
        let verdict = if report.passed { "passed" } else { "FAILED" };
        rows.push(row(step, verdict, Some(begin.elapsed()), &report.counts));
        if !report.passed {
            failed.push(step);
            stopped = step.needed;
        }
    }

    println!("\n{}", rows.join("\n"));
    println!("{:<12} {:>8.1} s", "total", start.elapsed().as_secs_f64());
    if failed.is_empty() {
        println!("\nEverything passed.");
        return Ok(());
    }
    println!();
    for step in &failed {
        println!("{} failed; to run it alone: {}", step.name, step.rerun);
    }
    let names: Vec<&str> = failed.iter().map(|step| step.name).collect();
    bail!("failed: {}", names.join(", "));
}

fn row(step: &Step, verdict: &str, time: Option<Duration>, counts: &str) -> String {
    let time = time.map_or_else(String::new, |time| format!("{:.1} s", time.as_secs_f64()));
    format!("{:<12} {time:>10}  {verdict:<8} {counts}", step.name)
        .trim_end()
        .to_owned()
}

/// The sum of the results that the test programs report.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Tally {
    /// Adds a line like "test result: ok. 3 passed; 0 failed; 1 ignored; …"; passes over any other.
    fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        for part in result.split([';', '.']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(what)) = (
                words.next().and_then(|word| word.parse::<usize>().ok()),
                words.next(),
            ) else {
                continue;
            };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed", self.passed)?;
        for (number, what) in [(self.failed, "failed"), (self.ignored, "ignored")] {
            if number > 0 {
                write!(f, ", {number} {what}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_summed_over_test_programs() {
        let mut tally = Tally::default();
        tally.add("running 5 tests");
        tally.add("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s");
        tally.add("test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 12.5s");
        assert_eq!(tally.to_string(), "7 passed, 2 failed, 1 ignored");
    }

    #[test]
    fn a_row_names_its_step() {
        let lit = STEPS.iter().find(|step| step.name == "lit").unwrap();
        let text = row(lit, "FAILED", Some(Duration::from_millis(1250)), "3 failed");
        assert_eq!(text, "lit               1.2 s  FAILED   3 failed");
    }
}
