//! The backends: how bodies at the subgroup level become code, with a row for each kind of
//! target.

use super::{CompileError, Setting, amdgpu, host, llvm, nvptx, spirv};
use crate::targets::{Capabilities, Kind, Target};
use qd_artifact::{Format, Origins, Requirements};
use qd_dialects::{diagnostic::Result, ir::Op};

/// A kind of output of a converted module, by emitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// By LLVM.
    Llvm(llvm::Output),
    /// Of the SPIR-V module.
    Spirv(spirv::Output),
}

/// One file, or why there is none.
type File = std::result::Result<Vec<u8>, CompileError>;
/// The code of each part, or why there is none.
type Codes = std::result::Result<Vec<Vec<u8>>, CompileError>;

/// One kind of target's conversion and emitter.
pub struct Backend {
    /// From bodies at the subgroup level to the dialects that `emit` takes, as a pipeline.
    pub conversion: fn(&Capabilities) -> String,
    /// Bytes of shared memory that a launch of a body at the subgroup level has to request.
    pub dynamic_shared_bytes: for<'c> fn(Op<'c>, &Target) -> Result<'c, u32>,
    /// The requirements of a part's code beyond the target itself, and the reasons.
    pub requirements: fn(Op<'_>, &Setting<'_>) -> (Requirements, Origins),
    /// One kind of output of converted parts, as one file.
    pub emit: fn(&[Op<'_>], &Setting<'_>, Output) -> File,
    /// What an artifact's modules are.
    pub format: Format,
    /// The code of each of these converted parts, as a module of an artifact.
    pub code: fn(&[Op<'_>], &Setting<'_>) -> Codes,
}

/// The error of a target that does not have the requested output.
pub fn lacks(setting: &Setting<'_>, what: &str, because: &str) -> CompileError {
    CompileError::Target(format!(
        "target '{}' has no {what}: {because}",
        setting.target.capabilities.name
    ))
}

/// The row of a target.
pub fn of(target: &Target) -> &'static Backend {
    match target.capabilities.kind {
        Kind::Amdgpu(_) => &amdgpu::AMDGPU,
        Kind::Host => &host::HOST,
        Kind::Nvptx(_) => &nvptx::NVPTX,
        Kind::Spirv(_) => &spirv::SPIRV,
    }
}
