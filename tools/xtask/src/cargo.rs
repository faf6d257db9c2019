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
    match profile {
        // By itself a package is built with fewer features of other crates than among all, which
        // builds those crates a second time.
        Profile::Dev => command.arg("--workspace"),
        Profile::Release => {
            for tool in workspace.tools()? {
                command.args(["--package", &tool]);
            }
            command.arg("--release")
        }
    };
    process::run(&mut command)
}

/// The test programs of these names, as `cargo build --workspace --all-targets` builds them.
pub fn test(workspace: &Workspace, programs: &[impl AsRef<str>]) -> Command {
    let mut command = cargo(workspace);
    command.args(["test", "--workspace"]);
    for program in programs {
        command.args(["--test", program.as_ref()]);
    }
    command
}
