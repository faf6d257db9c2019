//! Turns a module into what a target runs:
//! `qd-translate FILE --target=cpu --emit=obj -o OUT`.
//!
//! There are two programs. `qd-translate` puts an artifact together of what has been compiled before, without the
//! compiler; where there is more to do it becomes `qd-translate-compile`. This library is what they share, and
//! links no LLVM.

use clap::{Parser, ValueEnum};
use qd_artifact::{Options, TargetSpec, replace};
use qd_request::{CompileRequest, Diagnostic, Source};
use qd_thin::Failure;
use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

/// As both programs call themselves.
pub const TOOL: &str = "qd-translate";

/// Turns a module into what a target runs.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub struct Cli {
    /// A module: text or bytecode; - for standard input.
    pub file: PathBuf,

    /// The target to compile for, with its options after commas. Repeat it to compile an artifact
    /// for several targets.
    #[arg(long = "target", value_name = "TARGET", default_value = "cpu")]
    pub targets: Vec<String>,

    /// A kernel to compile, together with the kernels that it dispatches to. May be repeated;
    /// without it, all kernels are compiled.
    #[arg(long = "kernel", value_name = "NAME")]
    pub kernels: Vec<String>,

    /// The kind of output.
    #[arg(long, value_enum, default_value_t = Form::Artifact)]
    pub emit: Form,

    /// The output file; standard output if it is - or left out.
    #[arg(short, long = "output", value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Compiles every kernel of an artifact, even if it is in the cache, and stores nothing there.
    #[arg(long)]
    pub no_cache: bool,

    /// Writes a page for a browser: which subgroup sizes and lowerings were chosen of which, and why.
    /// It compiles all anew.
    #[arg(long, value_name = "FILE.html")]
    pub explain: Option<PathBuf>,

    /// Writes a Chrome trace.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// What is made of it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Form {
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

/// What is no error is said when it is found.
pub fn print(said: &Diagnostic) {
    said.print(TOOL);
}

/// The kernels that are asked for, for targets, as the environment says.
pub fn request(cli: &Cli, source: Source, targets: Vec<TargetSpec>) -> CompileRequest {
    CompileRequest {
        source,
        targets,
        kernels: Some(cli.kernels.clone()).filter(|kernels| !kernels.is_empty()),
        options: Options::of_environment(),
    }
}

/// Puts what was made where it was asked for.
///
/// # Errors
///
/// It cannot be written there.
pub fn write(cli: &Cli, bytes: &[u8]) -> Result<(), Failure> {
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
