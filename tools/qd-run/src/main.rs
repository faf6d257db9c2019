//! Runs a kernel on data. What has been compiled before it runs itself; for the rest it becomes
//! `qd-run-compile`, which is beside it.

use qd_run::{
    TOOL,
    cli::Cli,
    devices, execute,
    program::{Found, find},
};
use qd_thin::{become_compiler, begin_trace, main_of};
use std::process::ExitCode;

fn main() -> ExitCode {
    main_of(TOOL, |cli: &Cli| {
        if let Some(format) = cli.devices {
            print!("{}", devices::list(format));
            return Ok(());
        }
        let guard = begin_trace(cli.trace.as_deref())?;
        match find(cli)? {
            Found::Program(program) => execute(cli, &guard, *program, || Ok(())),
            Found::NeedsCompiler(troubles) => {
                let what = "the kernel has to be compiled";
                Err(become_compiler(TOOL, what, &troubles))
            }
        }
    })
}
