//! Runs a kernel on data: `qd-run FILE --entry=NAME --target=cpu …`.
//!
//! There are two programs. `qd-run` runs what has been compiled before, without the compiler, which takes
//! longer to load than that takes to run; where there is more to do it becomes `qd-run-compile`. This
//! library is what they share, and links no LLVM.

pub mod array;
pub mod bind;
pub mod cli;
mod npy;
mod numbers;
mod output;
pub mod program;
pub mod report;
mod resident;
mod select;
mod streams;
mod value;

use clap::Parser;
use cli::Cli;
use output::Output;
use program::Program;
use qd_request::{Diagnostic, Diagnostics};
use qd_store::{Store, Trouble};
use qd_trace::Guard;
use select::Selection;
use std::{env, fmt::Write as _, io::Write as _, process::ExitCode};

/// As both programs call themselves.
pub const TOOL: &str = "qd-run";

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
    /// Prints it to standard error.
    pub fn print(&self) {
        match self {
            Failure::Diagnostics(diagnostics) => diagnostics.print(TOOL),
            Failure::Message(message) => eprintln!("{TOOL}: {message}"),
            Failure::Located(message) => eprintln!("{message}"),
        }
    }
}

/// What a program does with a command line.
pub fn main_of(run: impl FnOnce(&Cli) -> Result<(), Failure>) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors.
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::FAILURE
        }
    }
}

/// Begins the trace that is asked for.
pub fn begin_trace(cli: &Cli) -> Result<Guard, Failure> {
    if let Some(path) = &cli.trace {
        std::fs::File::create(path).map_err(|e| format!("--trace={}: {e}", path.display()))?;
    }
    Ok(qd_trace::init(cli.trace.as_deref()))
}

/// What is no error is said when it is found.
pub fn print(said: &Diagnostic) {
    said.print(TOOL);
}

/// What `qd-run` has said of the store before it became `qd-run-compile`, a line each: a variable of the
/// environment.
pub const SAID: &str = "QD_RUN_SAID";

/// What was wrong with a store, as it was said.
#[derive(Debug, Default)]
pub struct Troubles {
    /// A line each.
    pub said: String,
    /// Whether the store that a team shares does not answer: nobody is to wait for it again.
    pub is_unreachable: bool,
}

/// Prints what is wrong with a store, but what has been said.
pub fn print_troubles(store: &Store) -> Troubles {
    store.flush();
    let mut all = Troubles {
        said: env::var(SAID).unwrap_or_default(),
        is_unreachable: false,
    };
    for trouble in store.troubles() {
        all.is_unreachable |= matches!(trouble, Trouble::Unreachable(..));
        let line = trouble.to_string();
        if !all.said.lines().any(|known| known == line) {
            eprintln!("{TOOL}: warning: {line}");
            all.said += &format!("{line}\n");
        }
    }
    all
}

/// Runs the program and shows what was asked for. `ran` is called when it has run, and before anything is
/// shown or written.
pub fn execute(
    cli: &Cli,
    guard: &Guard,
    program: Program<'_>,
    ran: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let kernel = program.kernel().clone();
    bind::check_names(&kernel)?;
    let outputs = output::parse(&kernel, &cli.outputs)?;
    let prints = cli
        .prints
        .iter()
        .map(|text| match select::parse(&kernel, text) {
            Ok(selection) => Ok((text, selection)),
            Err(error) => Err(format!("--print '{text}': {error}")),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut bound = bind::bind(&kernel, &cli.arguments)?;

    let mut text = String::new();
    if !cli.quiet {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", program.title());
        text += &report::arguments(&kernel, &bound);
    }
    let shown = prints.iter().map(|(_, selection)| selection);
    let wanted = shown
        .chain(outputs.iter().map(Output::selection))
        .flat_map(Selection::arguments)
        .collect();
    let done = program.run(cli, guard, &mut bound, &wanted)?;
    ran()?;
    if !cli.quiet {
        let _ = writeln!(text, "{}", done.summary);
        if let Some(run) = done.run.filter(|_| cli.time) {
            text += &report::times(&run.steps, run.total);
        }
    }
    for (asked, selection) in &prints {
        let rows = selection
            .rows(&kernel, &bound.arguments)
            .map_err(|e| format!("--print '{asked}': {e}"))?;
        let value = select::show(&bound.arguments[selection.argument], rows);
        let _ = writeln!(text, "{asked} = {value}");
    }
    let written = output::write(&outputs, &kernel, &bound.arguments)?;
    if !cli.quiet {
        written.iter().for_each(|line| text += &format!("{line}\n"));
    }
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(|e| Failure::Message(format!("standard output: {e}")))
}
