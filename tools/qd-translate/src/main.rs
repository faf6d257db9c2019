//! Turns a module into what a target runs:
//! `qd-translate FILE --target=cpu --emit=obj -o OUT`.

mod progress;

use clap::{Parser, ValueEnum};
use progress::Bar;
use qd_artifact::{Artifact, MAGIC, replace};
use qd_dialects::tools::exit_on_fatal_errors;
use qd_frontend::{
    CompileOptions, CompileRequest, Diagnostic, Diagnostics, Emit, Parsed, Source, TargetSpec,
    check_targets, compile_stored, draw, explanations, store::Store,
};
use std::{
    fs,
    io::{self, IsTerminal, Write},
    mem::ManuallyDrop,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// As it calls itself.
const TOOL: &str = "qd-translate";

/// Turns a module into what a target runs.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Cli {
    /// A module: text or bytecode; - for standard input.
    file: PathBuf,

    /// The target to compile for, with its options after commas. Repeat it to compile an artifact
    /// for several targets.
    #[arg(long = "target", value_name = "TARGET", default_value = "cpu")]
    targets: Vec<String>,

    /// A kernel to compile, together with the kernels that it dispatches to. May be repeated;
    /// without it, all kernels are compiled.
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,

    /// The kind of output.
    #[arg(long, value_enum, default_value_t = Form::Artifact)]
    emit: Form,

    /// The output file; standard output if it is - or left out.
    #[arg(short, long = "output", value_name = "FILE")]
    output: Option<PathBuf>,

    /// Compiles every kernel of an artifact, even if it is in the cache, and stores nothing there.
    #[arg(long)]
    no_cache: bool,

    /// Writes a page for a browser: which subgroup sizes and lowerings were chosen of which, and why.
    /// It goes with targets that select, such as cpu,select, and compiles all anew.
    #[arg(long, value_name = "FILE.html")]
    explain: Option<PathBuf>,

    /// Writes a Chrome trace.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// A relocatable object of the bodies.
    Obj,
    /// The bodies' LLVM IR, optimised.
    LlvmIr,
    /// The bodies' assembly, optimised: machine code, PTX, or SPIR-V as text.
    Asm,
    /// The bodies as a SPIR-V module, its words little-endian.
    Spirv,
    /// The SPIR-V module as text, in the syntax of spirv-as.
    SpirvAsm,
    /// What the SPIR-V module declares, as JSON: entry points with their local sizes
    /// and shared memory, capabilities, push constants.
    Reflection,
    /// Everything that a runtime needs, as one file, which qd-run can run.
    Artifact,
    /// The launch plan and the kernels' arguments, as JSON.
    Plan,
    /// The launch plan as a page for a browser: a graph of each kernel's steps, with
    /// what each waits for and why. FILE may be an artifact, which does not record why.
    PlanHtml,
}

const EXAMPLES: &str = "\
Examples:
  qd-translate sum.mlir --target=cpu -o sum.qdart && qd-run sum.qdart --arg a=a.npy --print out
  qd-translate sum.mlir --target=cpu --target=nvptx:sm_90 -o sum.qdart
  qd-translate sum.mlir --emit=asm | less
  qd-translate sum.mlir --target=vulkan:1.3,subgroup=32 --emit=spirv-asm | less
  qd-translate sum.mlir --target=cpu,wave=8 --emit=plan
  qd-translate sum.mlir --emit=plan-html -o sum.html

Environment:
  QD_LOG=info           log each pass and its time to standard error; debug, or a filter
  QD_SPIRV_VAL=1        put each SPIR-V module to spirv-val: a rejection is an error
  QD_LLD=PATH           LLVM's linker, for AMD's code objects; ld.lld-22 by default
  QD_CACHE_DIR=FOLDER   where kernels of artifacts are kept; empty: nowhere. qd-cache looks after it
  QD_CACHE_REMOTE=URL   a cache that a team shares, behind that folder: s3://BUCKET/FOLDER
  QD_CACHE_SIZE=SIZE    the most bytes to keep, as in 500M; 2G unless given";

/// Why there is no output.
enum Failure {
    /// Of the compiler.
    Diagnostics(Diagnostics),
    /// Of files.
    Message(String),
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

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors.
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    match explained(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            match failure {
                Failure::Diagnostics(diagnostics) => diagnostics.print(TOOL),
                Failure::Message(message) => eprintln!("{TOOL}: {message}"),
            }
            ExitCode::FAILURE
        }
    }
}

/// Does what is asked for, and writes what was selected meanwhile.
fn explained(cli: &Cli) -> Result<(), Failure> {
    let Some(path) = &cli.explain else {
        return run(cli);
    };
    explanations::begin();
    run(cli)?;
    let said = |message: String| format!("--explain={}: {message}", path.display());
    let page = explanations::finish().map_err(said)?;
    replace(path, page.as_bytes()).map_err(|e| said(e.to_string()))?;
    Ok(())
}

fn run(cli: &Cli) -> Result<(), Failure> {
    if let Some(path) = &cli.trace {
        fs::File::create(path).map_err(|e| format!("--trace={}: {e}", path.display()))?;
    }
    exit_on_fatal_errors(TOOL);
    let _guard = qd_trace::init(cli.trace.as_deref());
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
    let print = &mut print;
    let mut parsed = ManuallyDrop::new(Parsed::new(&context, &source, print)?);
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
            let artifact = parsed.compile(&targets, &options, print)?;
            return write(cli, &artifact.to_bytes());
        }
    };
    write(cli, &parsed.translate(one, &options, emit, print)?)
}

/// What is no error is said when it is found.
fn print(said: &Diagnostic) {
    said.print(TOOL);
}

/// An artifact of what was compiled before, and the rest.
fn kept(
    cli: &Cli,
    source: Source,
    targets: Vec<TargetSpec>,
    store: &Store,
) -> Result<Artifact, Diagnostics> {
    let request = CompileRequest {
        source,
        targets,
        kernels: Some(cli.kernels.clone()).filter(|kernels| !kernels.is_empty()),
        options: CompileOptions::of_environment(),
    };
    let mut bar = Bar::new();
    let artifact = compile_stored(&request, store, &mut print, &mut |progress| {
        bar.show(progress)
    });
    bar.end();
    store.print_troubles(TOOL);
    artifact
}

/// Puts what was made where it was asked for.
fn write(cli: &Cli, bytes: &[u8]) -> Result<(), Failure> {
    match cli.output.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => replace(path, bytes).map_err(|e| format!("{}: {e}", path.display()))?,
        None => {
            let is_text = !matches!(cli.emit, Form::Obj | Form::Spirv | Form::Artifact);
            let mut stdout = io::stdout();
            if !is_text && stdout.is_terminal() {
                return Err("the output is binary: name a file for it with -o FILE"
                    .to_string()
                    .into());
            }
            stdout
                .write_all(bytes)
                .map_err(|e| format!("standard output: {e}"))?;
        }
    }
    Ok(())
}
