//! Turns a module into what a target runs. An artifact of what has been compiled before it puts together itself; for
//! the rest it becomes `qd-translate-compile`, which is beside it.

use qd_artifact::{Artifact, TargetSpec};
use qd_request::{Source, find_stored};
use qd_store::Store;
use qd_thin::{Failure, Troubles, become_compiler, begin_trace, main_of, print_troubles};
use qd_translate::{Cli, Form, TOOL, print, request, write};
use std::{fs, process::ExitCode};

fn main() -> ExitCode {
    main_of(TOOL, |cli: &Cli| {
        let _guard = begin_trace(cli.trace.as_deref())?;
        match find(cli) {
            Ok(artifact) => write(cli, &artifact.to_bytes()),
            Err(troubles) => Err(compiler(&troubles)),
        }
    })
}

fn compiler(troubles: &Troubles) -> Failure {
    become_compiler(TOOL, "the module has to be compiled", troubles)
}

/// An artifact of what has been compiled before; of anything else what was wrong with the store. Whatever else is
/// wrong the compiler says.
fn find(cli: &Cli) -> Result<Artifact, Troubles> {
    // A pipe can be read once.
    let is_file = fs::metadata(&cli.file).is_ok_and(|file| file.is_file());
    if !matches!(cli.emit, Form::Artifact) || cli.no_cache || cli.explain.is_some() || !is_file {
        return Err(Troubles::default());
    }
    let targets = cli.targets.iter().map(|target| target.parse());
    let targets = targets.collect::<Result<Vec<TargetSpec>, _>>();
    let (Ok(targets), Ok(source)) = (targets, Source::read(&cli.file)) else {
        return Err(Troubles::default());
    };
    let Some(store) = Store::of_environment() else {
        return Err(Troubles::default());
    };
    let found = find_stored(&request(cli, source, targets), &store, &mut print);
    let troubles = print_troubles(TOOL, &store);
    found.ok_or(troubles)
}
