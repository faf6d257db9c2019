//! Bodies as PTX, which the driver compiles when it loads them.
//!
//! An artifact's module is the PTX of a body as text with a NUL behind it:
//! what `cuModuleLoadData` takes. There are no objects: that would be the
//! driver's own code.

use super::{
    CompileError, Setting,
    backend::{Backend, Output, lacks},
    llvm::{self, Machine},
    ptx, ptx_passes,
};
use crate::{
    convert::qd_to_nvvm,
    targets::{Capabilities, Kind},
};
use inkwell::{
    OptimizationLevel,
    targets::{InitializationConfig, Target},
    values::FunctionValue,
};
use qd_artifact::Format;
use qd_dialects::ir::Op;

/// See the module.
pub const NVPTX: Backend = Backend {
    conversion,
    dynamic_shared_bytes: qd_to_nvvm::dynamic_shared_bytes,
    // The target says it all.
    requirements: |_, _| Default::default(),
    emit,
    format: Format::Ptx,
    code,
};

/// From a body at the subgroup level to NVVM. Minima and maxima stay what they are, for
/// PTX has them: there is no `arith-expand` here. What LLVM does at once in any
/// case, MLIR does not: bodies are neither canonicalised nor rid of what they
/// compute twice, and nothing is rolled back, for a failure ends it all. But what
/// `qd-expand-metadata` folds on its way has to be folded here: without it
/// the code of a selection is a sixth longer.
fn conversion(capabilities: &Capabilities) -> String {
    let arch = architecture(capabilities);
    [
        &format!("qd-convert-to-nvvm{{arch={arch}}}"),
        // Floats to integer powers, as loops.
        "convert-math-to-funcs{min-width-of-fpowi-exponent=1}",
        "any(qd-hoist-invariants,convert-scf-to-cf{allow-pattern-rollback=0},\
         qd-expand-metadata{widest=500},lower-affine)",
        "convert-to-llvm{allow-pattern-rollback=0}",
        // LLVM begins with the rest.
        "reconcile-unrealized-casts",
        &format!("qd-verify-llvm{{target={}}}", capabilities.name),
    ]
    .join(",")
}

fn architecture(capabilities: &Capabilities) -> &'static str {
    match capabilities.kind {
        Kind::Nvptx(architecture) => architecture.name,
        _ => "",
    }
}

fn emit(parts: &[Op<'_>], setting: &Setting<'_>, output: Output) -> Result<Vec<u8>, CompileError> {
    let Output::Llvm(output) = output else {
        return Err(lacks(setting, "SPIR-V", "its bodies are PTX (--emit=asm)"));
    };
    if output == llvm::Output::Object {
        return Err(lacks(
            setting,
            "objects",
            "the driver makes them of PTX, which is its assembly",
        ));
    }
    match output {
        llvm::Output::LlvmIr => llvm::emit_linked(parts, &machine(setting)?, output, is_kernel),
        _ => Ok(ptx::joined(&each(parts, setting)?).into_bytes()),
    }
}

fn code(parts: &[Op<'_>], setting: &Setting<'_>) -> Result<Vec<Vec<u8>>, CompileError> {
    let with_end = |text: String| [text.as_bytes(), &[0]].concat();
    Ok(each(parts, setting)?.into_iter().map(with_end).collect())
}

/// The PTX of each part.
fn each(parts: &[Op<'_>], setting: &Setting<'_>) -> Result<Vec<String>, CompileError> {
    let made = llvm::emit_each(parts, &machine(setting)?, llvm::Output::Assembly, is_kernel)?;
    let text = |bytes: &Vec<u8>| ptx::narrow_stores(&String::from_utf8_lossy(bytes));
    Ok(made.iter().map(text).collect())
}

fn is_kernel(function: FunctionValue<'_>) -> bool {
    function.get_call_conventions() == PTX_KERNEL
}

/// What LLVM compiles for.
fn machine(setting: &Setting<'_>) -> Result<Machine<'static>, CompileError> {
    let Kind::Nvptx(architecture) = setting.target.capabilities.kind else {
        return Err(lacks(setting, "PTX", "it is no NVIDIA device"));
    };
    Target::initialize_nvptx(&InitializationConfig::default());
    Ok(Machine {
        triple: "nvptx64-nvidia-cuda".into(),
        cpu: architecture.name,
        features: architecture.ptx.into(),
        passes: ptx_passes::passes(),
        skipped: ptx_passes::SKIPPED,
        // The level above numbers values twice more, which finds nothing here.
        level: OptimizationLevel::Default,
        deep_level: OptimizationLevel::Default,
        vectorize: false,
        has_libraries: false,
    })
}

/// LLVM's number of how kernels are called.
const PTX_KERNEL: u32 = 71;
