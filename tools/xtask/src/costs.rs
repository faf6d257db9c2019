//! `amd-costs`: what algorithms cost on AMD's chips, counted in the oracle and not measured.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use crate::oracle::{self, Oracle};
use crate::packages::{self, Purpose};
use crate::workspace::{LLVM_PREFIX, Profile, Workspace};
use crate::{cargo, process};

/// Elements of each launch. Bodies that see few of them are left out of the table.
const ELEMENTS: &str = "16384";

/// A kernel of `costs.mlir`, and what its arguments hold.
type Kernel = (&'static str, &'static [&'static str]);

const RANDOM: &str = "a=random[16384]";
const HALF: &str = "flags=random(min=0,max=1)[16384]";
/// Runs of one element and a third.
const KEYS: &str = "keys=random(min=0,max=3)[16384]";

const KERNELS: &[Kernel] = &[
    ("reduce", &[RANDOM]),
    ("exclusive_scan", &[RANDOM]),
    ("select", &[RANDOM, HALF]),
    ("partition", &[RANDOM, HALF]),
    ("unique", &[KEYS]),
    ("reduce_by_key", &[KEYS, RANDOM]),
    ("sort", &[RANDOM]),
];

/// Runs each algorithm on each chip at each wave, and prints the table.
pub fn run(workspace: &Workspace) -> Result<()> {
    packages::ensure(Purpose::Test)?;
    cargo::build_tools(workspace, Profile::Dev)?;
    let oracle = Oracle::prepare(workspace)?;
    let folder = oracle.empty_folder("costs")?;
    let tool = |name| Command::new(workspace.bin_dir(Profile::Dev).join(name));
    let source = workspace.root().join("tools/amd-oracle/costs.mlir");
    for chip in oracle::all() {
        for (kernel, arguments) in KERNELS {
            let stem = format!("{kernel}.{}.{}", chip.architecture, chip.wave);
            let file = |suffix| folder.join(format!("{stem}.{suffix}"));
            let mut translate = tool("qd-translate");
            translate.arg(&source).args(["--kernel", kernel]);
            translate.args(["--target", &chip.target(), "--emit=asm", "-o"]);
            process::capture(translate.arg(file("s")))?;
            fs::write(file("jsonl"), "").context("cannot write what launches execute")?;
            let mut run = tool("qd-run");
            run.arg(&source).args(["--entry", kernel, "--quiet"]);
            run.args(["--target", &chip.target()]);
            for argument in *arguments {
                run.args(["--arg", argument]);
            }
            run.args(["--arg", &format!("n={ELEMENTS}")]);
            oracle.select(&mut run, &chip.architecture, &file("jsonl"));
            process::capture(&mut run)?;
        }
    }
    let folder = folder.to_string_lossy();
    let llvm = format!("{LLVM_PREFIX}/bin");
    let table = ["costs", &folder, "--elements", ELEMENTS, "--llvm", &llvm];
    print!("{}", process::capture(&mut oracle.command(&table))?);
    Ok(())
}
