//! `bench`: the measurements of the cpu target, of `qd-opt` and of compile time, in release.

use std::process::Command;

use anyhow::Result;

use crate::packages::Purpose;
use crate::workspace::{Profile, Workspace};
use crate::{cargo, packages, process};

/// Builds what is measured and runs it with the given flags.
pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    packages::ensure(Purpose::Build)?;
    cargo::build_tools(workspace, Profile::Release)?;
    let bench = workspace.bin_dir(Profile::Release).join("qd-bench");
    process::run(Command::new(bench).args(args).current_dir(workspace.root()))
}
