//! Runs a kernel on data: `qd-run FILE --entry=NAME --target=cpu …`.
//!
//! There are two programs. `qd-run` runs what has been compiled before, without the compiler, which takes
//! longer to load than that takes to run; where there is more to do it becomes `qd-run-compile`. This
//! library is what they share, and links no LLVM.

pub mod array;
pub mod bind;
pub mod cli;
pub mod devices;
mod npy;
mod numbers;
mod output;
pub mod program;
pub mod report;
mod resident;
mod select;
mod streams;
mod value;

use cli::Cli;
use output::Output;
use program::Program;
use qd_request::Diagnostic;
use qd_thin::Failure;
use qd_trace::Guard;
use select::Selection;
use std::{fmt::Write as _, io::Write as _};

/// As both programs call themselves.
pub const TOOL: &str = "qd-run";

/// What is no error is said when it is found.
pub fn print(said: &Diagnostic) {
    said.print(TOOL);
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
