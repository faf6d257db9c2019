//! What `qd-run` becomes where a kernel has to be compiled, or interpreted: the same command line, with the
//! compiler.

mod interpret;
mod module;
mod watch;

use qd_frontend::explanations;
use qd_run::{TOOL, cli::Cli, execute};
use qd_thin::{Failure, begin_trace, main_of};
use std::{fs, process::ExitCode};

/// What is compiled is made of many small pieces.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    main_of(TOOL, run)
}

fn run(cli: &Cli) -> Result<(), Failure> {
    qd_dialects::tools::exit_on_fatal_errors(TOOL);
    let guard = begin_trace(cli.trace.as_deref())?;
    if cli.watch {
        return watch::run(cli, &guard);
    }
    let context = qd_frontend::lazy_context();
    let program = module::open(cli, &context)?;
    if let Some(path) = &cli.explain {
        explanations::check(path, &[&cli.file])
            .map_err(|message| format!("--explain={}: {message}", path.display()))?;
        explanations::begin();
    }
    execute(cli, &guard, program, || explain(cli))
}

/// Writes what was selected, and why, if that is asked for.
fn explain(cli: &Cli) -> Result<(), Failure> {
    let Some(path) = &cli.explain else {
        return Ok(());
    };
    let said = |message: String| format!("--explain={}: {message}", path.display());
    let page = explanations::finish().map_err(said)?;
    Ok(fs::write(path, page).map_err(|e| said(e.to_string()))?)
}
