//! `amd-costs`: what algorithms cost on AMD's chips, counted in the oracle and not measured.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use crate::oracle::{self, Oracle};
use crate::packages::{self, Purpose};
use crate::workspace::{LLVM_PREFIX, Profile, Workspace};
use crate::{cargo, process};

/// Of the elements of each launch. Bodies that see few of them are left out of the table.
const LOG2: u32 = 14;

/// The rows of the bench that are taken: algorithms on 4-byte elements.
const ELEMENT: &str = "u32";

/// Runs each algorithm on each chip at each wave, and prints the table.
pub fn run(workspace: &Workspace) -> Result<()> {
    packages::ensure(Purpose::Test)?;
    cargo::build_tools(workspace, Profile::Dev)?;
    let oracle = Oracle::prepare(workspace)?;
    let folder = oracle.empty_folder("costs")?;
    let tool = |name| Command::new(workspace.bin_dir(Profile::Dev).join(name));
    let kernels = folder.join("kernels");
    let mut write = tool("qd-bench");
    write.args([
        "--target",
        &oracle::all()[0].target(),
        "--only",
        ELEMENT,
        "--kernels",
    ]);
    process::capture(write.arg(&kernels))?;
    let mut sources: Vec<_> = fs::read_dir(&kernels)?.collect::<Result<_, _>>()?;
    sources.sort_by_key(fs::DirEntry::file_name);
    for chip in oracle::all() {
        for source in &sources {
            let name = source.file_name().to_string_lossy().into_owned();
            let row = name.trim_end_matches(&format!(".{ELEMENT}.mlir"));
            let stem = format!("{row}.{}.{}", chip.architecture, chip.wave);
            let file = |suffix| folder.join(format!("{stem}.{suffix}"));
            let mut translate = tool("qd-translate");
            translate.arg(source.path());
            translate.args(["--target", &chip.target(), "--emit=asm", "-o"]);
            process::capture(translate.arg(file("s")))?;
            fs::write(file("jsonl"), "").context("cannot write what launches execute")?;
            let mut bench = tool("qd-bench");
            bench.args(["--target", &chip.target(), "--alone", "--repeats", "1"]);
            bench.args([
                "--only",
                &format!("{row} {ELEMENT}"),
                "--log2",
                &LOG2.to_string(),
            ]);
            oracle.select(&mut bench, &chip.architecture, &file("jsonl"));
            process::capture(&mut bench)?;
        }
    }
    let folder = folder.to_string_lossy();
    let llvm = format!("{LLVM_PREFIX}/bin");
    // Each row is launched twice: to be checked, and once.
    let elements = (2 << LOG2).to_string();
    let table = ["costs", &folder, "--elements", &elements, "--llvm", &llvm];
    print!("{}", process::capture(&mut oracle.command(&table))?);
    Ok(())
}
