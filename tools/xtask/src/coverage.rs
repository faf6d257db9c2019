//! `coverage`: which lines of `passes` and `lowering` the tests reach, and which random kernels
//! and mutants reach beyond them.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::packages::{self, Purpose};
use crate::process;
use crate::workspace::{LLVM_PREFIX, Workspace};

/// Every file but those of the crates of which it is asked.
const OTHERS: &str = "/(dialects|runtime|frontend|tools|tests|examples|target)/|/\\.cargo/|/rustc/";

/// What the tests are, each a command line of cargo.
const TESTS: &[&str] = &[
    "test --workspace --exclude xtask",
    "xtask lit",
    "xtask conformance --target=vulkan:1.3,subgroup=8",
];

/// What is tried beside them: what `cargo xtask test` tries of a fixed seed.
const SMITH: &str = "xtask smith run --turns --seed 1 --kernels 200 --mutants 3000";

/// Builds everything anew with counters, in a target directory of its own, runs the tests and then
/// `qd-smith`, and writes a report after each.
pub fn run(workspace: &Workspace) -> Result<()> {
    packages::ensure(Purpose::Test)?;
    ensure!(
        packages::has_program("cargo-llvm-cov"),
        "there is no cargo-llvm-cov: cargo install cargo-llvm-cov"
    );
    let counted = Counted::new(workspace)?;
    process::run(&mut counted.cargo("llvm-cov clean --workspace --profraw-only"))?;
    for test in TESTS {
        process::run(&mut counted.cargo(test))?;
    }
    let tests = counted.report("tests")?;
    process::run(&mut counted.cargo(SMITH))?;
    let all = counted.report("tests-and-smith")?;
    println!("\nlines of passes and lowering that are reached");
    println!("by the tests: {tests}\nby the tests and qd-smith: {all}");
    println!("lines that neither reaches: out/coverage/tests-and-smith.txt");
    Ok(())
}

/// How cargo is called so that what it builds counts the lines that it runs.
struct Counted<'a> {
    workspace: &'a Workspace,
    variables: Vec<(String, String)>,
}

impl<'a> Counted<'a> {
    fn new(workspace: &'a Workspace) -> Result<Self> {
        let mut counted = Self {
            workspace,
            variables: vec![
                ("CARGO_TARGET_DIR".into(), "target/coverage".into()),
                ("CARGO_INCREMENTAL".into(), "0".into()),
                ("LLVM_COV".into(), format!("{LLVM_PREFIX}/bin/llvm-cov")),
                (
                    "LLVM_PROFDATA".into(),
                    format!("{LLVM_PREFIX}/bin/llvm-profdata"),
                ),
            ],
        };
        let shown = counted.output("llvm-cov show-env")?;
        for line in shown.lines() {
            let (name, value) = line
                .split_once('=')
                .with_context(|| format!("cargo llvm-cov show-env says '{line}'"))?;
            let value = value.trim_matches(['\'', '"']);
            counted.variables.push((name.into(), value.into()));
        }
        Ok(counted)
    }

    fn cargo(&self, arguments: &str) -> Command {
        let mut command = Command::new("cargo");
        command
            .current_dir(self.workspace.root())
            .envs(self.variables.iter().cloned())
            .args(arguments.split(' '));
        command
    }

    fn output(&self, arguments: &str) -> Result<String> {
        let mut command = self.cargo(arguments);
        let output = command.output()?;
        ensure!(
            output.status.success(),
            "{}: {}\n{}",
            process::describe(&command),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Writes a page and a table by file, with the lines that were not reached, and says how many
    /// lines of how many were.
    fn report(&self, name: &str) -> Result<String> {
        let folder = self.workspace.root().join("out/coverage");
        fs::create_dir_all(&folder)?;
        let report = format!("llvm-cov report --ignore-filename-regex {OTHERS}");
        let table = self.output(&format!("{report} --show-missing-lines"))?;
        fs::write(folder.join(format!("{name}.txt")), &table)?;
        process::run(
            &mut self.cargo(&format!("{report} --html --output-dir out/coverage/{name}")),
        )?;
        let total = table.lines().find(|line| line.starts_with("TOTAL"));
        let total = total.context("the report has no line TOTAL")?;
        // Regions, functions and lines, each as a number, those that were missed, and per cent.
        let figures: Vec<&str> = total.split_whitespace().collect();
        ensure!(figures.len() > 9, "the report's total is '{total}'");
        Ok(format!(
            "{} of {} lines, {}",
            figures[7].parse::<u64>()? - figures[8].parse::<u64>()?,
            figures[7],
            figures[9]
        ))
    }
}
