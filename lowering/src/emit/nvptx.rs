//! Bodies as PTX, which the driver compiles when it loads them.
//!
//! The artifact's module is the PTX of all bodies as text with a NUL behind it:
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
use melior::ir::Module;
use qd_artifact::{Format, Requirements};
use qd_dialects::{
    ir::{Op, OpExt, operations},
    melior,
};

/// See the module.
pub const NVPTX: Backend = Backend {
    conversion,
    dynamic_shared_bytes: qd_to_nvvm::dynamic_shared_bytes,
    // The target says it all.
    requirements: |_, _| Requirements::default(),
    emit,
    format: Format::Ptx,
    code,
};

/// From tiled bodies to NVVM, each in a module of its own. Minima and maxima stay what they are, for
/// PTX has them: there is no `arith-expand` here. What LLVM does at once in any
/// case, MLIR does not: bodies are neither canonicalised nor rid of what they
/// compute twice, and nothing is rolled back, for a failure ends it all. But what
/// `qd-expand-metadata` folds on its way has to be folded here: without it
/// the code of a selection is a sixth longer.
fn conversion(capabilities: &Capabilities) -> String {
    let arch = architecture(capabilities);
    let each = [
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
    .join(",");
    format!("qd-separate-bodies,builtin.module({each})")
}

fn architecture(capabilities: &Capabilities) -> &'static str {
    match capabilities.kind {
        Kind::Nvptx(architecture) => architecture.name,
        _ => "",
    }
}

fn emit(
    module: &Module<'_>,
    setting: &Setting<'_>,
    output: Output,
) -> Result<Vec<u8>, CompileError> {
    let Kind::Nvptx(architecture) = setting.target.capabilities.kind else {
        return Err(lacks(setting, "PTX", "it is no NVIDIA device"));
    };
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
    Target::initialize_nvptx(&InitializationConfig::default());
    let machine = Machine {
        triple: "nvptx64-nvidia-cuda".into(),
        cpu: architecture.name,
        features: architecture.ptx,
        passes: &ptx_passes::passes(),
        skipped: ptx_passes::SKIPPED,
        // The level above numbers values twice more, which finds nothing here.
        level: OptimizationLevel::Default,
        deep_level: OptimizationLevel::Default,
        vectorize: false,
        has_libraries: false,
    };
    let bodies = bodies(super::handle(module));
    let is_kernel = |function: FunctionValue<'_>| function.get_call_conventions() == PTX_KERNEL;
    if output == llvm::Output::LlvmIr {
        return llvm::emit_linked(&bodies, &machine, is_kernel);
    }
    let parts = llvm::emit_each(&bodies, &machine, output, is_kernel)?;
    Ok(ptx::narrow_stores(&ptx::joined(&parts)).into_bytes())
}

/// The modules within a module, each of a body; itself if there is none.
fn bodies(module: Op<'_>) -> Vec<Op<'_>> {
    let mut bodies = operations(module.body().expect("a module's body"));
    bodies.retain(|op| op.is("builtin.module"));
    match bodies.is_empty() {
        true => vec![module],
        false => bodies,
    }
}

/// LLVM's number of how kernels are called.
const PTX_KERNEL: u32 = 71;

fn code(module: &Module<'_>, setting: &Setting<'_>) -> Result<Vec<u8>, CompileError> {
    let mut text = emit(module, setting, Output::Llvm(llvm::Output::Assembly))?;
    text.push(0);
    Ok(text)
}
