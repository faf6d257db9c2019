//! Turns a module into what a target runs:
//! `qd-translate FILE --target=cpu --emit=obj -o OUT`.

use clap::{Parser, ValueEnum};
use qd_artifact::{Artifact, MAGIC};
use qd_dialects::{
    parse::{self, print_diagnostics},
    tools::exit_on_fatal_errors,
};
use qd_lowering::{Emit, targets::Target, translate};
use std::{
    fs,
    io::{self, IsTerminal, Write},
    mem::ManuallyDrop,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Turns a module into what a target runs.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Cli {
    /// A module: text or bytecode; - for standard input.
    file: PathBuf,

    /// What to compile for, with options after commas.
    #[arg(long, default_value = "cpu")]
    target: String,

    /// What to make.
    #[arg(long, value_enum, default_value_t = Form::Artifact)]
    emit: Form,

    /// Where to write it; - or nothing is standard output.
    #[arg(short, long = "output", value_name = "FILE")]
    output: Option<PathBuf>,

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
    /// That module as text, which spirv-as takes.
    SpirvAsm,
    /// What that module declares, as JSON: entry points with their local sizes
    /// and shared memory, capabilities, push constants.
    Reflection,
    /// Everything a runtime needs, as one file: qd-run takes it.
    Artifact,
    /// The launch plan and the kernels' arguments, as JSON.
    Plan,
    /// The launch plan as a page for a browser: a graph of each kernel's steps, with
    /// what each waits for and why. FILE may be an artifact, which does not say why.
    PlanHtml,
}

const EXAMPLES: &str = "\
Examples:
  qd-translate sum.mlir --target=cpu -o sum.qdart && qd-run sum.qdart --arg a=a.npy --print out
  qd-translate sum.mlir --emit=asm | less
  qd-translate sum.mlir --target=vulkan:1.3,subgroup=32 --emit=spirv-asm | less
  qd-translate sum.mlir --target=cpu,wave=8 --emit=plan
  qd-translate sum.mlir --emit=plan-html -o sum.html

Environment:
  QD_LOG=info      log each pass and its time to standard error; debug, or a filter
  QD_SPIRV_VAL=1   put each SPIR-V module to spirv-val: a rejection is an error";

/// Why there is no output.
enum Failure {
    /// MLIR has said it already.
    Said,
    /// To be said.
    Message(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Message(message)
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
        Err(Failure::Said) => ExitCode::FAILURE,
        Err(Failure::Message(message)) => {
            eprintln!("qd-translate: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<(), Failure> {
    if let Some(path) = &cli.trace {
        fs::File::create(path).map_err(|e| format!("--trace={}: {e}", path.display()))?;
    }
    exit_on_fatal_errors("qd-translate");
    let _guard = qd_trace::init(cli.trace.as_deref());
    melior::utility::register_all_passes();
    qd_passes::register();
    qd_lowering::register();
    // The process ends with them: nobody gains by taking them apart.
    let context = ManuallyDrop::new(qd_dialects::context());
    let errors = print_diagnostics(&context);

    Target::parse(&cli.target)?;
    let source = parse::read(&cli.file)?;
    if matches!(cli.emit, Form::PlanHtml) && source.starts_with(MAGIC) {
        let artifact = Artifact::from_bytes(source);
        let artifact = artifact.map_err(|e| format!("{}: {e}", cli.file.display()))?;
        return write(cli, qd_lowering::draw(&artifact).as_bytes());
    }
    let said = |message: String| match errors.count() {
        0 => Failure::Message(message),
        _ => Failure::Said,
    };
    let module = parse::parse(&context, &source, &cli.file);
    let mut module = ManuallyDrop::new(module.ok_or(Failure::Said)?);
    let emit = match cli.emit {
        Form::Obj => Emit::Object,
        Form::LlvmIr => Emit::LlvmIr,
        Form::Asm => Emit::Assembly,
        Form::Spirv => Emit::Spirv,
        Form::SpirvAsm => Emit::SpirvAssembly,
        Form::Reflection => Emit::Reflection,
        Form::Artifact => Emit::Artifact,
        Form::Plan => Emit::Plan,
        Form::PlanHtml => Emit::PlanHtml,
    };
    let bytes = translate(&mut module, &cli.target, emit).map_err(|e| said(e.to_string()))?;
    write(cli, &bytes)
}

/// Puts what was made where it was asked for.
fn write(cli: &Cli, bytes: &[u8]) -> Result<(), Failure> {
    match cli.output.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => write_file(path, bytes).map_err(|e| format!("{}: {e}", path.display()))?,
        None => {
            let is_text = !matches!(cli.emit, Form::Obj | Form::Spirv | Form::Artifact);
            let mut stdout = io::stdout();
            if !is_text && stdout.is_terminal() {
                return Err("this is no text: say where to write it with -o FILE"
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

/// Writes a file beside its place and moves it there, so that nobody sees half
/// of it; a device or a pipe is written to.
fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::write(path, bytes);
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .prefix(".qd-translate-")
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}
