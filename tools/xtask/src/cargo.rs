//! Calls of cargo itself.

use std::process::Command;

use anyhow::Result;

use crate::process;
use crate::workspace::{Profile, Workspace};

/// `cargo`, in the repository. By its plain name, so that what is echoed is what one would type.
pub fn cargo(workspace: &Workspace) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(workspace.root());
    command
}

/// Builds every tool, the plugin library included.
pub fn build_tools(workspace: &Workspace, profile: Profile) -> Result<()> {
    let mut command = cargo(workspace);
    command.arg("build");
    if profile == Profile::Release {
        command.arg("--release");
    }
    for tool in workspace.tools()? {
        command.args(["--package", &tool]);
    }
    process::run(&mut command)
}
