//! Bodies as PTX, which the driver compiles when it loads them.
//!
//! An artifact's module is the PTX of a body as NUL-terminated text, which
//! `cuModuleLoadData` takes. There are no objects: these would be machine code
//! for one device, which the driver makes.

use super::{
    CompileError, Setting,
    backend::{Backend, Output, lacks},
    gpu,
    llvm::{self, Machine},
    ptx,
};
use crate::{
    convert::qd_to_nvvm,
    targets::{Capabilities, Kind},
};
use inkwell::{
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

fn conversion(capabilities: &Capabilities) -> String {
    let convert = format!("qd-convert-to-nvvm{{arch={}}}", architecture(capabilities));
    gpu::conversion(&convert, "nvvm", capabilities)
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
    let machine = machine(setting)?;
    let made = llvm::emit_each(&[(parts, &machine)], llvm::Output::Assembly, is_kernel)?;
    let text = |bytes: &Vec<u8>| {
        let text = String::from_utf8_lossy(bytes);
        ptx::used_acquires(&ptx::narrow_stores(&text))
    };
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
    Ok(gpu::machine(
        "nvptx64-nvidia-cuda",
        architecture.name,
        architecture.ptx,
        &["nvvm-intr-range"],
    ))
}

/// LLVM's number of how kernels are called.
const PTX_KERNEL: u32 = 71;
