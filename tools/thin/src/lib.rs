//! For the tools that take what has been compiled before: two programs each. The tool itself links no LLVM, which takes
//! longer to load than what is kept takes to find; where there is more to do it becomes its [`COMPILES`], with the same
//! command line.
//!
//! What both programs do alike is here: their main, what is wrong, and the progress of a long compilation.

mod compiler;
mod progress;
mod troubles;

pub use compiler::{COMPILES, become_compiler};
pub use progress::{Bar, with_bar};
pub use troubles::{Troubles, print_troubles};

use clap::Parser;
use qd_request::Diagnostics;
use qd_trace::Guard;
use std::{
    fs::File,
    path::Path,
    process::{ExitCode, Termination},
};

/// Why there is no result.
pub enum Failure {
    /// Of the compiler.
    Diagnostics(Diagnostics),
    /// To be said.
    Message(String),
    /// To be said, and begins with a place.
    Located(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Message(message)
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Self {
        Failure::Diagnostics(diagnostics)
    }
}

impl Failure {
    /// Prints it to standard error, as a tool's.
    pub fn print(&self, tool: &str) {
        match self {
            Failure::Diagnostics(diagnostics) => diagnostics.print(tool),
            Failure::Message(message) => eprintln!("{tool}: {message}"),
            Failure::Located(message) => eprintln!("{message}"),
        }
    }
}

/// What a tool's program does with its command line.
pub fn main_of<Cli: Parser, Done: Termination>(
    tool: &str,
    run: impl FnOnce(&Cli) -> Result<Done, Failure>,
) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors.
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    match run(&cli) {
        Ok(done) => done.report(),
        Err(failure) => {
            failure.print(tool);
            ExitCode::FAILURE
        }
    }
}

/// Begins the trace that is asked for.
///
/// # Errors
///
/// Its file cannot be written.
pub fn begin_trace(path: Option<&Path>) -> Result<Guard, Failure> {
    if let Some(path) = path {
        File::create(path).map_err(|e| format!("--trace={}: {e}", path.display()))?;
    }
    Ok(qd_trace::init(path))
}
