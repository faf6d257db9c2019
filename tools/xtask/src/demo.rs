//! `demo`: from a fresh machine to the main job's answer, in one command.

use std::process::Command;

use anyhow::Result;

use crate::workspace::{Profile, Workspace};
use crate::{cargo, packages, process};

/// What `qd-run` is given: the main job's file, its entry, and a file per buffer.
const MAIN_JOB: &[&str] = &[
    "examples/flights/flights.mlir",
    "--entry=flights",
    "--target=cpu",
    "--time",
    "--arg",
    "delay=examples/flights/delay.npy",
    "--arg",
    "distance=examples/flights/distance.npy",
];

/// The rungs at which the job's IR can be read, from the top.
const LEVELS: &[(&str, &str)] = &[
    ("grid", "algorithms expanded into phases"),
    ("launch", "phases fused, outlined and ordered"),
    ("simt", "subgroup operations with their tiles chosen"),
    ("cpu", "loops over threads, as handed to LLVM"),
];

/// Sets up, builds in release, runs the main job, and says how to look inside it.
pub fn run(workspace: &Workspace) -> Result<()> {
    packages::ensure()?;
    cargo::build_tools(workspace, Profile::Release)?;
    main_job(workspace)?;
    print!("{}", how_to_look_inside(workspace));
    Ok(())
}

/// The group-by over the flights: one `.mlir` file, one kernel.
fn main_job(workspace: &Workspace) -> Result<()> {
    let qd_run = workspace.bin_dir(Profile::Release).join("qd-run");
    process::run(
        Command::new(qd_run)
            .args(MAIN_JOB)
            .current_dir(workspace.root()),
    )
}

fn how_to_look_inside(workspace: &Workspace) -> String {
    let qd_opt = workspace.bin_dir(Profile::Release).join("qd-opt");
    // As one would type it in the repository.
    let qd_opt = qd_opt
        .strip_prefix(workspace.root())
        .unwrap_or(&qd_opt)
        .display();
    let file = MAIN_JOB[0];
    let mut text = format!("\nThe kernel is {file}. To read it at each level on its way down:\n");
    for (level, what) in LEVELS {
        text += &format!(
            "  {qd_opt} {file} {:<12} # {what}\n",
            format!("--to={level}")
        );
    }
    text
}
