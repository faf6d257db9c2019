//! Runs a kernel on data. What has been compiled before it runs itself; for the rest it becomes
//! `qd-run-compile`, which is beside it.

use qd_run::{
    Failure, SAID, TOOL, Troubles, begin_trace,
    cli::Cli,
    execute, main_of,
    program::{Found, find},
};
use std::{
    env, io,
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
};

/// The program that compiles.
const COMPILES: &str = "qd-run-compile";

fn main() -> ExitCode {
    main_of(|cli: &Cli| {
        let guard = begin_trace(cli)?;
        match find(cli)? {
            Found::Program(program) => execute(cli, &guard, *program, || Ok(())),
            Found::NeedsCompiler(troubles) => Err(compile(&troubles)),
        }
    })
}

/// Becomes the program that compiles. Returns why it could not.
fn compile(troubles: &Troubles) -> Failure {
    let become_it = || -> io::Result<(String, io::Error)> {
        // Where this program is, not where a link to it is.
        let path = env::current_exe()?.canonicalize()?.with_file_name(COMPILES);
        let mut command = Command::new(&path);
        command.arg0(TOOL).args(env::args_os().skip(1));
        command.env(SAID, &troubles.said);
        if troubles.is_unreachable {
            command.env(qd_store::REMOTE, "");
        }
        Ok((path.display().to_string(), command.exec()))
    };
    let why = match become_it() {
        Ok((path, error)) if error.kind() == io::ErrorKind::NotFound => {
            format!("the kernel has to be compiled, and {path}, which does that, is not there")
        }
        Ok((path, error)) => format!("{path}: {error}"),
        Err(error) => format!("where this program is: {error}"),
    };
    Failure::Message(why)
}
