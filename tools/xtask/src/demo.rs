//! `demo`: from a fresh machine to the result of the example, in one command.

use std::process::Command;

use anyhow::Result;

use crate::packages::Purpose;
use crate::workspace::{Profile, Workspace};
use crate::{cargo, packages, process};

/// What `qd-run` is given: the main job's file, its entry, its data, and what is to be seen of it.
const MAIN_JOB: &[&str] = &[
    "examples/flights/flights.mlir",
    "--entry=flights",
    "--target=cpu",
    "--arg",
    "delay=examples/flights/delay.npy",
    "--arg",
    "distance=examples/flights/distance.npy",
    "--arg",
    "n=len(delay)",
    "--time",
    "--print",
    "num_late",
    "--print",
    "distances[:num_distances]",
    "--print",
    "offsets[:num_distances]",
    "--print",
    "worst_distance",
    "--print",
    "worst_mean",
];

/// The levels at which the job's IR can be read, from the top, by the command that prints each.
const LEVELS: &[(&str, &str, &str)] = &[
    ("qd-opt", "--to=grid", "algorithms expanded into phases"),
    ("qd-opt", "--to=plan", "phases fused, outlined and ordered"),
    ("qd-opt", "--to=subgroup", "the subgroup size chosen"),
    (
        "qd-opt",
        "--to=target",
        "loops over threads, as handed to LLVM",
    ),
    ("qd-translate", "--emit=llvm-ir", "LLVM IR, optimised"),
    ("qd-translate", "--emit=asm", "machine code"),
    ("qd-translate", "--emit=plan", "what is launched, as JSON"),
];

/// Sets up, builds in release, runs the main job, and says how to look inside it.
pub fn run(workspace: &Workspace) -> Result<()> {
    packages::ensure(Purpose::Build)?;
    cargo::build_tools(workspace, Profile::Release)?;
    println!(
        "\nOf 200,000 flights, those more than 15 minutes late, by the distance they flew (miles): how \
         many, where each\ndistance begins, and which distance has the worst mean delay (minutes)?"
    );
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
            // It is to be seen compiling, whatever was compiled before.
            .arg("--no-cache")
            .current_dir(workspace.root()),
    )
}

fn how_to_look_inside(workspace: &Workspace) -> String {
    let folder = workspace.bin_dir(Profile::Release);
    // As one would type it in the repository.
    let folder = folder
        .strip_prefix(workspace.root())
        .unwrap_or(&folder)
        .display();
    let file = MAIN_JOB[0];
    let mut text = format!("\nThe kernel is {file}. To read it at each level on its way down:\n");
    for (tool, flag, what) in LEVELS {
        text += &format!(
            "  {:<72} # {what}\n",
            format!("{folder}/{tool} {file} {flag}")
        );
    }
    text += &format!(
        "To run it otherwise: {folder}/qd-run --help. The reference interpreter runs it, too: --interpret\n"
    );
    text
}
