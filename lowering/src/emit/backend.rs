//! How tiled bodies become code: a row for each kind of target.

use super::{CompileError, host, llvm, nvptx, spirv};
use crate::targets::{Capabilities, Kind, Target};
use melior::ir::Module;
use qd_artifact::{Format, Requirements};
use qd_dialects::melior;

/// What a converted module is turned into, by what makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// By LLVM.
    Llvm(llvm::Output),
    /// Of the SPIR-V module.
    Spirv(spirv::Output),
}

/// One kind of target's conversion and emitter.
pub struct Backend {
    /// From tiled bodies to the dialects that `emit` takes, as a pipeline.
    pub conversion: fn(&Capabilities) -> String,
    /// Whether bodies are converted and emitted one by one, where one text or binary
    /// is made of them all.
    pub is_apart: bool,
    /// What the machine that runs the code must have, besides being the target.
    pub requirements: fn(&Module<'_>) -> Requirements,
    /// One kind of output of a converted module.
    pub emit: Emitter<Output>,
    /// What an artifact's modules are.
    pub format: Format,
    /// The code of all bodies, as a module of an artifact.
    pub code: fn(&Module<'_>, &Capabilities) -> Result<Vec<u8>, CompileError>,
}

/// Makes what is asked for of a module.
type Emitter<What> = fn(&Module<'_>, &Capabilities, What) -> Result<Vec<u8>, CompileError>;

/// The error of a target that does not have what is asked for.
pub fn lacks(capabilities: &Capabilities, what: &str, because: &str) -> CompileError {
    CompileError::Target(format!(
        "target '{}' has no {what}: {because}",
        capabilities.name
    ))
}

/// The row of a target.
pub fn of(target: &Target) -> &'static Backend {
    match target.capabilities.kind {
        Kind::Host => &host::HOST,
        Kind::Nvptx(_) => &nvptx::NVPTX,
        Kind::Spirv(_) => &spirv::SPIRV,
    }
}
