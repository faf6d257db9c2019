//! Bodies as one SPIR-V module, which the driver compiles when a pipeline is made
//! of it.
//!
//! The artifact's binary is the module's words, little-endian.

use super::{CompileError, Output, backend::Backend};
use crate::{convert::qd_to_spirv::REASONS, targets::Capabilities};
use melior::ir::Module;
use qd_artifact::Requirements;
use qd_dialects::{
    attributes,
    ir::{Op, OpExt, operations},
    melior, serialize,
};

/// See the module.
pub const SPIRV: Backend = Backend {
    conversion,
    requirements,
    emit,
    binary: |module, _| Ok(bytes(&words(module)?)),
};

/// From tiled bodies to a `spirv.module`. Functions are inlined first: what is in
/// one may have no form outside of an entry point.
fn conversion(capabilities: &Capabilities) -> String {
    [
        "inline",
        &format!("qd-convert-to-spirv{{target={}}}", capabilities.name),
        // Integer powers, as loops.
        "convert-math-to-funcs{min-width-of-fpowi-exponent=1}",
        "arith-expand",
        "canonicalize",
        "cse",
        "convert-math-to-spirv",
        "convert-ub-to-spirv",
        // All that is left, in one conversion: a branch's values have types of
        // both dialects.
        "convert-scf-to-spirv",
        "convert-arith-to-spirv",
        "reconcile-unrealized-casts",
        "canonicalize",
        "cse",
        "qd-finish-spirv",
    ]
    .join(",")
}

/// The capabilities that the module declares, and why.
fn requirements(module: &Module<'_>) -> Requirements {
    let Ok(module) = spirv_module(super::handle(module)) else {
        return Requirements::default();
    };
    let declared = module.attr("vce_triple").map(|triple| triple.to_string());
    let declared = declared.unwrap_or_default();
    // `#spirv.vce<v1.6, [A, B], []>`.
    let list = declared.split(['[', ']']).nth(1).unwrap_or_default();
    let mut features: Vec<_> = list.split(", ").map(str::to_owned).collect();
    features.sort();
    let reasons = module.attr(REASONS).map(attributes::strings);
    Requirements {
        features,
        reasons: reasons.unwrap_or_default().into_iter().collect(),
        ..Requirements::default()
    }
}

fn emit(
    module: &Module<'_>,
    capabilities: &Capabilities,
    output: Output,
) -> Result<Vec<u8>, CompileError> {
    let name = &capabilities.name;
    match output {
        Output::Object => Ok(bytes(&words(module)?)),
        Output::Assembly => Ok(bytes(&words(module)?)),
        Output::LlvmIr => Err(CompileError::Target(format!(
            "target '{name}' has no LLVM IR: its bodies are SPIR-V"
        ))),
    }
}

/// The module's words.
fn words(module: &Module<'_>) -> Result<Vec<u32>, CompileError> {
    let _span = tracing::info_span!("serialize").entered();
    let module = spirv_module(super::handle(module))?;
    serialize::spirv(module)
        .ok_or_else(|| CompileError::Pipeline("the module has no binary form".into()))
}

fn spirv_module(module: Op<'_>) -> Result<Op<'_>, CompileError> {
    let body = module.body().expect("a module's body");
    let mut found = operations(body)
        .into_iter()
        .filter(|op| op.is("spirv.module"));
    found
        .next()
        .ok_or_else(|| CompileError::Pipeline("there is no spirv.module".into()))
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
