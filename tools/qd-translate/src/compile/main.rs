//! What `qd-translate` becomes where something has to be compiled: the same command line, with the compiler.

use qd_artifact::{Artifact, MAGIC, replace};
use qd_dialects::tools::exit_on_fatal_errors;
use qd_frontend::{
    CompileOptions, CompileProgress, Diagnostics, Emit, Parsed, Source, TargetSpec, check_targets,
    compile_stored, draw, explanations, store::Store,
};
use qd_thin::{Failure, begin_trace, main_of, print_troubles, with_bar};
use qd_translate::{Cli, Form, TOOL, print, request, write};
use std::{mem::ManuallyDrop, path::PathBuf, process::ExitCode};

/// What is compiled is made of many small pieces.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    main_of(TOOL, explained)
}

/// Does what is asked for, and writes what was selected meanwhile.
fn explained(cli: &Cli) -> Result<(), Failure> {
    let Some(path) = &cli.explain else {
        return run(cli);
    };
    let said = |message: String| format!("--explain={}: {message}", path.display());
    let others = [Some(&cli.file), cli.output.as_ref()].into_iter().flatten();
    let others: Vec<_> = others.map(PathBuf::as_path).collect();
    explanations::check(path, &others).map_err(said)?;
    explanations::begin();
    run(cli)?;
    let page = explanations::finish().map_err(said)?;
    replace(path, page.as_bytes()).map_err(|e| said(e.to_string()))?;
    Ok(())
}

fn run(cli: &Cli) -> Result<(), Failure> {
    exit_on_fatal_errors(TOOL);
    let _guard = begin_trace(cli.trace.as_deref())?;
    let targets = cli.targets.iter().map(|target| target.parse());
    let targets: Vec<TargetSpec> = targets
        .collect::<Result<_, _>>()
        .map_err(Diagnostics::from)?;
    check_targets(&targets)?;
    let one = match (&targets[..], cli.emit) {
        ([one], _) => one,
        (_, Form::Artifact) => &targets[0],
        _ => return Err("only an artifact is for several targets".to_string().into()),
    };
    let source = Source::read(&cli.file)?;
    if matches!(cli.emit, Form::PlanHtml) && source.bytes().starts_with(MAGIC) {
        let artifact = Artifact::from_bytes(source.bytes().to_vec());
        let artifact = artifact.map_err(|e| format!("{}: {e}", cli.file.display()))?;
        return write(cli, draw(&artifact).as_bytes());
    }
    let store = match cli.no_cache || cli.explain.is_some() {
        true => None,
        false => Store::of_environment(),
    };
    if let (Form::Artifact, Some(store)) = (cli.emit, store) {
        return write(cli, &kept(cli, source, targets, &store)?.to_bytes());
    }
    // The process ends with them: destroying them would gain nothing.
    let context = ManuallyDrop::new(qd_frontend::lazy_context());
    let mut parsed = ManuallyDrop::new(Parsed::new(&context, &source, &mut print)?);
    if !cli.kernels.is_empty() {
        parsed.select(&cli.kernels)?;
    }
    let options = CompileOptions::of_environment();
    let emit = match cli.emit {
        Form::Obj => Emit::Object,
        Form::LlvmIr => Emit::LlvmIr,
        Form::Asm => Emit::Assembly,
        Form::Spirv => Emit::Spirv,
        Form::SpirvAsm => Emit::SpirvAssembly,
        Form::Reflection => Emit::Reflection,
        Form::Plan => Emit::Plan,
        Form::PlanHtml => Emit::PlanHtml,
        Form::Artifact => {
            let made = with_bar(TOOL, |_, sink| parsed.compile(&targets, &options, sink));
            return write(cli, &made?.to_bytes());
        }
    };
    let made = with_bar(TOOL, |_, sink| parsed.translate(one, &options, emit, sink));
    write(cli, &made?)
}

/// An artifact of what was compiled before, and the rest.
fn kept(
    cli: &Cli,
    source: Source,
    targets: Vec<TargetSpec>,
    store: &Store,
) -> Result<Artifact, Diagnostics> {
    let request = request(cli, source, targets);
    let artifact = with_bar(TOOL, |bar, sink| {
        let mut show = |progress: CompileProgress| bar.show(progress.done, progress.of);
        compile_stored(&request, store, sink, &mut show)
    });
    print_troubles(TOOL, store);
    artifact
}
