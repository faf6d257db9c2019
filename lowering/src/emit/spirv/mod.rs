//! The SPIR-V backend: a module for each body, which the driver compiles when it creates
//! a pipeline.
//!
//! The artifact holds a module's words, little-endian.

mod atomics;
mod disassemble;
mod names;
mod reflect;
#[cfg(test)]
mod sample;
mod sizes;
mod validate;

use super::{
    CompileError, Setting,
    backend::{self, Backend, lacks},
    llvm,
};
use crate::{Options, targets::Capabilities};
use qd_artifact::{Format, Origins, Requirements};
use qd_dialects::{
    attributes,
    ir::{Op, OpExt, operations},
    serialize,
};
use reflect::{ModuleError, Reflection};

/// What is shown of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The words of one module, as in a file.
    Words,
    /// Text.
    Text,
    /// What it declares, as JSON.
    Reflection,
}

/// See the module.
pub const SPIRV: Backend = Backend {
    conversion,
    dynamic_shared_bytes: |_, _| Ok(0),
    requirements: |part, _| requirements(part),
    emit,
    format: Format::Spirv,
    code: |parts, setting| {
        let code = |part: &Op<'_>| Ok(bytes(&words(*part, setting.options)?));
        parts.iter().map(code).collect()
    },
};

/// From bodies at the subgroup level to a `spirv.module`.
fn conversion(capabilities: &Capabilities) -> String {
    [
        &format!("qd-convert-to-spirv{{target={}}}", capabilities.name),
        "arith-expand",
        "any(qd-clean)",
        "convert-math-to-spirv",
        "convert-ub-to-spirv",
        // All that is left, in one conversion: a branch's values have types of
        // both dialects.
        "convert-scf-to-spirv",
        "convert-arith-to-spirv",
        "reconcile-unrealized-casts",
        "any(qd-clean)",
        "qd-finish-spirv",
    ]
    .join(",")
}

/// The capabilities that the module declares, and why.
fn requirements(part: Op<'_>) -> (Requirements, Origins) {
    let Ok(module) = spirv_module(part) else {
        return Default::default();
    };
    let declared = module.attr("vce_triple").map(|triple| triple.to_string());
    let declared = declared.unwrap_or_default();
    // `#spirv.vce<v1.6, [A, B], []>`.
    let list = declared.split(['[', ']']).nth(1).unwrap_or_default();
    let mut features: Vec<_> = list.split(", ").map(str::to_owned).collect();
    features.sort();
    let reasons = module
        .attr(attributes::names::REASONS)
        .map(attributes::strings);
    let requirements = Requirements {
        features,
        ..Requirements::default()
    };
    let reasons = reasons.unwrap_or_default().into_iter().collect();
    let origins = Origins {
        reasons,
        ..Origins::default()
    };
    (requirements, origins)
}

fn emit(
    parts: &[Op<'_>],
    setting: &Setting<'_>,
    output: backend::Output,
) -> Result<Vec<u8>, CompileError> {
    let output = match output {
        backend::Output::Spirv(output) => output,
        backend::Output::Llvm(llvm::Output::Assembly) => Output::Text,
        backend::Output::Llvm(llvm::Output::Object) => {
            return Err(lacks(
                setting,
                "objects",
                "the driver makes them of the SPIR-V module (--emit=spirv)",
            ));
        }
        backend::Output::Llvm(llvm::Output::LlvmIr) => {
            return Err(lacks(
                setting,
                "LLVM IR",
                "its bodies are SPIR-V (--emit=spirv-asm)",
            ));
        }
    };
    let modules = parts.iter().map(|part| words(*part, setting.options));
    let modules = modules.collect::<Result<Vec<_>, _>>()?;
    match output {
        Output::Words => Ok(bytes(&modules.concat())),
        Output::Text => {
            let texts = modules.iter().map(|words| disassemble::disassemble(words));
            let texts = texts.collect::<Result<Vec<_>, _>>()?;
            Ok(texts.join("\n").into_bytes())
        }
        Output::Reflection => {
            let declared = modules.iter().map(|words| Reflection::of(words));
            let declared = declared.collect::<Result<Vec<_>, _>>()?;
            let mut text = serde_json::to_vec_pretty(&declared)
                .map_err(|e| CompileError::Spirv(e.to_string()))?;
            text.push(b'\n');
            Ok(text)
        }
    }
}

/// The words of a part's module. A module that would not run is an error here, and not
/// on the target machine.
fn words(part: Op<'_>, options: &Options) -> Result<Vec<u32>, CompileError> {
    let _span = tracing::info_span!("serialize").entered();
    let module = spirv_module(part)?;
    let words = serialize::spirv(module)
        .ok_or_else(|| CompileError::Pipeline("the module has no binary form".into()))?;
    let words = atomics::with_loads_and_stores(words)?;
    let reflection = Reflection::of(&words)?;
    reflection.check()?;
    // What has no entry points is no module to the specification. Nothing loads it.
    if options.validate_spirv && !reflection.entry_points.is_empty() {
        validate::validate(&bytes(&words))?;
    }
    Ok(words)
}

impl From<ModuleError> for CompileError {
    fn from(why: ModuleError) -> Self {
        CompileError::Spirv(why.to_string())
    }
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
