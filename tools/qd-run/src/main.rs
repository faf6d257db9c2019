//! Runs a kernel on data: `qd-run FILE --entry=NAME --target=cpu …`.

mod array;
mod bind;
mod cli;
mod interpret;
mod npy;
mod numbers;
mod output;
mod program;
mod report;
mod resident;
mod select;
mod streams;
mod value;
mod watch;

use clap::Parser;
use cli::Cli;
use output::Output;
use program::Program;
use qd_frontend::{Diagnostics, explanations};
use qd_trace::Guard;
use select::Selection;
use std::{fmt::Write as _, io::Write as _, process::ExitCode};

/// As it calls itself.
const TOOL: &str = "qd-run";

/// Why there is no result.
enum Failure {
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
    fn print(&self) {
        match self {
            Failure::Diagnostics(diagnostics) => diagnostics.print(TOOL),
            Failure::Message(message) => eprintln!("{TOOL}: {message}"),
            Failure::Located(message) => eprintln!("{message}"),
        }
    }
}

fn main() -> ExitCode {
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

fn run(cli: &Cli) -> Result<(), Failure> {
    if let Some(path) = &cli.trace {
        std::fs::File::create(path).map_err(|e| format!("--trace={}: {e}", path.display()))?;
    }
    qd_dialects::tools::exit_on_fatal_errors(TOOL);
    let guard = qd_trace::init(cli.trace.as_deref());

    if cli.watch {
        return watch::run(cli, &guard);
    }
    let context = qd_frontend::lazy_context();
    execute(cli, &guard, Program::open(cli, &context)?)
}

/// Runs the program and shows what was asked for.
fn execute(cli: &Cli, guard: &Guard, program: Program<'_>) -> Result<(), Failure> {
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
    if cli.explain.is_some() {
        explanations::begin();
    }
    let done = program.run(cli, guard, &mut bound, &wanted)?;
    if let Some(path) = &cli.explain {
        let said = |message: String| format!("--explain={}: {message}", path.display());
        let page = explanations::finish().map_err(said)?;
        std::fs::write(path, page).map_err(|e| said(e.to_string()))?;
    }
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
