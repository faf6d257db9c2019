//! `--watch`: a file is lowered to a level again whenever it is saved, kernel by kernel.
//!
//! A session lowers, so that an edit of a comment lowers nothing. `mlir-opt` takes no part in it, so none of
//! its flags does. Each kernel is a module with all that it names; functions of no kernel are not shown.

use crate::levels::Watched;
use qd_artifact::replace;
use qd_frontend::{
    CompileOptions, Diagnostics, Parsed, Source, TargetSpec, lazy_context,
    session::{FileId, Session, Symbols, View},
};
use qd_watch::Watch;
use std::{
    collections::HashSet,
    convert::Infallible,
    io::{self, Write},
    sync::Arc,
};

/// As it calls itself.
const TOOL: &str = "qd-opt";
/// What is between modules, as `--split-input-file` has it.
const BETWEEN: &str = "// -----\n";

/// Runs until it is ended from outside. Errors are those that a save cannot mend.
pub fn run(watched: &Watched) -> Result<Infallible, String> {
    let target: TargetSpec = match watched.target.parse() {
        Ok(target) => target,
        Err(error) => return Err(format!("{error}")),
    };
    qd_dialects::tools::exit_on_fatal_errors(TOOL);
    let warn = |why: String| eprintln!("{TOOL}: warning: {why}");
    let (mut watch, text) = Watch::begin_text(&watched.file, warn)?;
    // IR is not kept on disk.
    let mut session = Session::new(CompileOptions::of_environment(), None);
    let file = session.add(watched.file.display().to_string(), &*text);
    let mut symbols = turn(
        watched,
        &session,
        (file, &text),
        &target,
        &Symbols::default(),
    )?;
    loop {
        let text = watch.text(warn);
        session.set_text(file, &*text);
        symbols = turn(watched, &session, (file, &text), &target, &symbols)?;
    }
}

/// Lowers what the file holds now, and says what was lowered again. What cannot be written ends the watch:
/// it has no reader.
fn turn(
    watched: &Watched,
    session: &Session,
    (file, text): (FileId, &str),
    target: &TargetSpec,
    before: &Symbols,
) -> Result<Symbols, String> {
    let name = watched.file.display().to_string();
    let kernels = session.kernels(file);
    let mut modules = Vec::new();
    let mut is_whole = true;
    let mut add = |kernel: Option<&str>, result: Result<String, Diagnostics>| match result {
        Ok(module) => modules.push((kernel.map(str::to_owned), module)),
        Err(diagnostics) => {
            is_whole = false;
            diagnostics.print(TOOL);
        }
    };
    let view = View::Level(watched.level);
    for kernel in &kernels {
        let mut sink = |said: &qd_frontend::Diagnostic| said.print(TOOL);
        let found = session.view(file, kernel, target, view, &mut sink);
        add(Some(kernel), found.map(Option::unwrap_or_default));
    }
    if kernels.is_empty() {
        add(None, whole(&name, text, watched, target));
    }
    let ran = session.take_log();
    let lines = qd_watch::redone(&name, session, file, before, &ran);
    lines.iter().for_each(|line| eprintln!("{line}"));
    let redone: HashSet<&str> = ran.iter().filter_map(|ran| ran.kernel()).collect();
    match &watched.output {
        Some(path) if is_whole => {
            let all: Vec<_> = modules.into_iter().map(|(_, module)| module).collect();
            replace(path, all.join(BETWEEN).as_bytes())
                .map_err(|e| format!("{}: {e}", path.display()))?;
        }
        // What was written last stays.
        Some(_) => {}
        None => {
            let is_redone = |kernel: &Option<String>| {
                kernel
                    .as_deref()
                    .is_none_or(|kernel| redone.contains(kernel))
            };
            let shown = modules.into_iter().filter(|(kernel, _)| is_redone(kernel));
            let shown: Vec<_> = shown.map(|(_, module)| module).collect();
            let mut stdout = io::stdout();
            stdout
                .write_all(shown.join(BETWEEN).as_bytes())
                .and_then(|()| stdout.flush())
                .map_err(|e| format!("standard output: {e}"))?;
        }
    }
    Ok(session.symbols(file))
}

/// A file without kernels, or one that is not told apart into symbols.
fn whole(
    name: &str,
    text: &str,
    watched: &Watched,
    target: &TargetSpec,
) -> Result<String, Diagnostics> {
    let context = lazy_context();
    let source = Source::text(name, Arc::from(text));
    let mut sink = |said: &qd_frontend::Diagnostic| said.print(TOOL);
    let mut parsed = Parsed::new(&context, &source, &mut sink)?;
    parsed.lower_to(watched.level, target, &mut sink)?;
    Ok(parsed.module().as_operation().to_string())
}
