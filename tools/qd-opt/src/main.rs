//! `mlir-opt` with the qd dialect and its passes.
//!
//! Takes every flag of `mlir-opt`, and of its own: `--to=<level>` stops at a
//! level of the lowering pipeline, `--watch` does so whenever the file is saved, `--trace=FILE` writes a
//! Chrome trace, `--explain=FILE` a page of what was selected.

mod help;
mod levels;
mod watch;

use qd_lowering::select::page;
use std::{
    fs,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

/// What is compiled is made of many small pieces.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let (arguments, own) = match levels::split(std::env::args_os()) {
        Ok(split) => split,
        Err(message) => {
            eprintln!("qd-opt: {message}");
            return ExitCode::FAILURE;
        }
    };
    let _guard = qd_trace::init(own.trace.as_deref());
    qd_lowering::register();
    if own.help {
        // Before upstream's, which ends the process. What cannot be written is
        // no help.
        let mut stdout = io::stdout();
        let _ = stdout.write_all(help::text().as_bytes());
        let _ = stdout.write_all(b"\n");
        let _ = stdout.flush();
    }
    if let Some(watched) = own.watched {
        let Err(message) = watch::run(&watched);
        eprintln!("qd-opt: {message}");
        return ExitCode::FAILURE;
    }
    if let Some(path) = &own.explain {
        let texts = arguments.iter().skip(1).filter_map(|text| text.to_str());
        let named = texts.map(|text| Path::new(text.strip_prefix("-o=").unwrap_or(text)));
        if let Err(message) = page::check(path, &named.collect::<Vec<_>>()) {
            eprintln!("qd-opt: --explain={}: {message}", path.display());
            return ExitCode::FAILURE;
        }
        page::begin();
    }
    if qd_dialects::tools::opt_main(arguments) != 0 {
        return ExitCode::FAILURE;
    }
    if let Some(path) = &own.explain {
        let written = page::finish()
            .and_then(|page| fs::write(path, page).map_err(|error| error.to_string()));
        if let Err(message) = written {
            eprintln!("qd-opt: --explain={}: {message}", path.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
