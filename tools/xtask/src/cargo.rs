//! Calls of cargo itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

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

/// The files of the test programs of these names that have their sources in a folder: other packages may have programs
/// of the same names.
pub fn test_files(
    workspace: &Workspace,
    folder: &Path,
    programs: &[impl AsRef<str>],
) -> Result<Vec<PathBuf>> {
    let mut build = test(workspace, programs);
    let made = made(&mut build)?;
    let files = made
        .iter()
        .filter_map(|message| executable(message, folder));
    let mut files: Vec<_> = files.map(PathBuf::from).collect();
    files.sort();
    Ok(files)
}

/// Every test program of the workspace, as cargo runs them: in the folder of its package.
pub fn test_programs(workspace: &Workspace) -> Result<Vec<Command>> {
    let mut build = test(workspace, &[""; 0]);
    let made = made(&mut build)?;
    Ok(made.iter().filter_map(test_program).collect())
}

/// What cargo says that it makes for tests, which it does not run.
fn made(build: &mut Command) -> Result<Vec<Value>> {
    build.args(["--no-run", "--message-format=json-render-diagnostics"]);
    let output = process::capture(build)?;
    let messages = output.lines().map(|line| {
        serde_json::from_str(line)
            .with_context(|| format!("{} printed: {line}", process::describe(build)))
    });
    messages.collect()
}

/// The program of tests that cargo says it has made.
fn test_program(message: &Value) -> Option<Command> {
    let executable = message["executable"].as_str()?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let mut program = Command::new(executable);
    program
        .current_dir(folder)
        .env("CARGO_MANIFEST_DIR", folder);
    message["profile"]["test"].as_bool()?.then_some(program)
}

/// The file that cargo says it has made of sources in a folder.
fn executable<'m>(message: &'m Value, folder: &Path) -> Option<&'m str> {
    let source = Path::new(message["target"]["src_path"].as_str()?);
    let executable = message["executable"].as_str()?;
    source.starts_with(folder).then_some(executable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn programs_of_other_packages_are_passed_over() {
        let file = |source: &str, file: Value| {
            let message = json!({ "target": { "src_path": source }, "executable": file });
            executable(&message, Path::new("/qd/tests/conformance")).map(str::to_owned)
        };
        let made = json!("/qd/target/debug/deps/simt-1");
        let ours = file("/qd/tests/conformance/tests/simt.rs", made.clone());
        assert_eq!(ours.as_deref(), Some("/qd/target/debug/deps/simt-1"));
        assert_eq!(file("/qd/lowering/tests/simt.rs", made), None);
        // A library.
        assert_eq!(file("/qd/tests/conformance/src/lib.rs", Value::Null), None);
    }
}
