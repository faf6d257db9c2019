//! Becoming the program that compiles.

use crate::{Failure, Troubles, troubles::SAID};
use std::{env, io, os::unix::process::CommandExt, process::Command};

/// What is after a tool's name in that of its program that compiles, which is in the same folder.
pub const COMPILES: &str = "-compile";

/// Executes it with the command line of this process. Returns why it could not. `what` is what it is needed
/// for, for people.
pub fn become_compiler(tool: &str, what: &str, troubles: &Troubles) -> Failure {
    let become_it = || -> io::Result<(String, io::Error)> {
        let name = format!("{tool}{COMPILES}");
        // Where this program is, not where a link to it is.
        let path = env::current_exe()?.canonicalize()?.with_file_name(name);
        let mut command = Command::new(&path);
        command.arg0(tool).args(env::args_os().skip(1));
        command.env(SAID, &troubles.said);
        if troubles.is_unreachable {
            command.env(qd_store::REMOTE, "");
        }
        Ok((path.display().to_string(), command.exec()))
    };
    let why = match become_it() {
        Ok((path, error)) if error.kind() == io::ErrorKind::NotFound => {
            format!("{what}, and {path}, which does that, is not there")
        }
        Ok((path, error)) => format!("{path}: {error}"),
        Err(error) => format!("where this program is: {error}"),
    };
    Failure::Message(why)
}
