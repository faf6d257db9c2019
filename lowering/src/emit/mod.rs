//! From a module to an artifact: the launch plan as data, bodies through the
//! target's `backend` to a binary.

mod apart;
mod backend;
mod draw;
mod effects;
mod expr;
mod host;
mod lengths;
mod llvm;
mod nvptx;
mod plan;
mod ptx;
mod ptx_passes;
mod reflect;
mod spirv;
mod waits;

pub use reflect::reflect;

use backend::Output;

use crate::targets::Target;
use melior::ir::Module;
use qd_artifact::{Argument, Artifact, Body, Bytes};
use qd_dialects::{ir::Op, melior, pass::run_pipeline};
use std::collections::HashMap;

/// What a module is turned into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// A relocatable object of the bodies.
    Object,
    /// The bodies' LLVM IR, optimised.
    LlvmIr,
    /// The bodies' assembly, optimised.
    Assembly,
    /// Everything a runtime needs, as one file.
    Artifact,
    /// The launch plan and the kernels' arguments, as JSON.
    Plan,
    /// The launch plan as a page: a graph of its steps, and why they wait.
    PlanHtml,
    /// The bodies as a SPIR-V module.
    Spirv,
    /// That module as text.
    SpirvAssembly,
    /// What that module declares, as JSON.
    Reflection,
}

/// Why a module could not be compiled. What MLIR had to say has been said
/// through the context's diagnostic handlers.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The target is not one.
    #[error("{0}")]
    Target(String),
    /// A pass failed; its diagnostics have the reason.
    #[error("{0}")]
    Pipeline(String),
    /// LLVM had something against the code.
    #[error("LLVM: {0}")]
    Llvm(String),
    /// The module that was made is not what its runtime expects.
    #[error("SPIR-V: {0}")]
    Spirv(String),
}

/// Compiles a module for a target.
pub fn compile(module: &mut Module<'_>, target: &str) -> Result<Artifact, CompileError> {
    let mut compiled = lower(module, target, Emit::Artifact)?;
    compiled.add_code(module)?;
    Ok(compiled.artifact)
}

/// From tiled bodies to the dialects that are emitted, as a pipeline.
pub(crate) fn conversion(target: &Target) -> String {
    (backend::of(target).conversion)(&target.capabilities)
}

/// Compiles a module for a target and yields one kind of output.
pub fn translate(
    module: &mut Module<'_>,
    target: &str,
    emit: Emit,
) -> Result<Vec<u8>, CompileError> {
    let mut compiled = lower(module, target, emit)?;
    let output = match emit {
        Emit::LlvmIr => Output::Llvm(llvm::Output::LlvmIr),
        Emit::Assembly => Output::Llvm(llvm::Output::Assembly),
        Emit::Object => Output::Llvm(llvm::Output::Object),
        Emit::Spirv => Output::Spirv(spirv::Output::Words),
        Emit::SpirvAssembly => Output::Spirv(spirv::Output::Text),
        Emit::Reflection => Output::Spirv(spirv::Output::Reflection),
        Emit::Artifact => {
            compiled.add_code(module)?;
            return Ok(compiled.artifact.to_bytes());
        }
        Emit::PlanHtml => {
            let page = draw::page(&compiled.artifact, Some(&compiled.waits));
            return Ok(page.into_bytes());
        }
        Emit::Plan => {
            let text = serde_json::to_vec_pretty(&compiled.artifact)
                .map_err(|e| CompileError::Pipeline(e.to_string()))?;
            return Ok(text);
        }
    };
    (backend::of(&compiled.target).emit)(module, &compiled.target.capabilities, output)
}

struct Compiled {
    target: Target,
    /// Of one module, without its code at first.
    artifact: Artifact,
    /// Of its kernels, in their order; none unless they are drawn.
    waits: Vec<waits::Waits>,
}

/// An artifact's launch plans as a page. What steps do with memory is not in it, so that the
/// page has whom they wait for, and not why.
pub fn draw(artifact: &Artifact) -> String {
    draw::page(artifact, None)
}

impl Compiled {
    /// Adds to the artifact's module what the converted module becomes.
    fn add_code(&mut self, module: &Module<'_>) -> Result<(), CompileError> {
        let code = (backend::of(&self.target).code)(module, &self.target.capabilities)?;
        self.artifact.modules[0].set_bytes(code);
        Ok(())
    }
}

/// Runs the ladder down to the target's dialects, for one kind of output; the plan is read
/// off on the way.
fn lower(module: &mut Module<'_>, target: &str, emit: Emit) -> Result<Compiled, CompileError> {
    let parsed = Target::parse(target).map_err(CompileError::Target)?;
    let reflected = reflect(module)?;
    pipeline(module, &format!("qd-to-tiled{{target={target}}}"))?;
    let wave = handle_attr(module, "qd.wave").unwrap_or(0) as u32;
    let mut kernels = match plan::kernels(handle(module)) {
        Ok(kernels) => kernels,
        Err(diagnostic) => {
            let message = diagnostic.message().to_string();
            diagnostic.emit();
            return Err(CompileError::Pipeline(message));
        }
    };
    // Sizes and roles are read off before algorithms are expanded, and from bodies what
    // they do.
    let reflected = reflected.into_iter();
    let mut reflected: HashMap<_, _> = reflected.map(|r| (r.name, r.arguments)).collect();
    for kernel in &mut kernels {
        let Some(arguments) = reflected.remove(&kernel.name) else {
            continue;
        };
        for (known, argument) in kernel.arguments.iter_mut().zip(arguments) {
            let access = known.access;
            *known = Argument { access, ..argument };
        }
    }
    let waits = match emit {
        Emit::PlanHtml => waits::waits(handle(module), &kernels),
        _ => Vec::new(),
    };
    let conversion = conversion(&parsed);
    // Where each body is emitted by itself.
    let each = matches!(emit, Emit::Assembly | Emit::Artifact);
    match each && backend::of(&parsed).is_apart && apart::separate(handle(module)) {
        true => pipeline(
            module,
            &format!("builtin.module(builtin.module({conversion}))"),
        )?,
        false => pipeline(module, &conversion)?,
    }
    plan::set_dynamic_shared(&mut kernels, handle(module));
    let backend = backend::of(&parsed);
    let needs = (backend.requirements)(module);
    for plan in plan::plans(&mut kernels) {
        plan.needs = needs.clone();
    }
    let bodies = plan::bodies(&mut kernels).into_iter();
    let bodies = bodies.map(|name| Body { name, wave });
    let code = qd_artifact::Module::new(0, backend.format, bodies.collect(), Bytes::new());
    Ok(Compiled {
        artifact: Artifact {
            targets: vec![target.to_string()],
            kernels,
            modules: vec![code],
        },
        waits,
        target: parsed,
    })
}

fn pipeline(module: &mut Module<'_>, passes: &str) -> Result<(), CompileError> {
    let context = qd_dialects::ir::context_of(handle(module));
    let _span = tracing::info_span!("pipeline", passes).entered();
    run_pipeline(context, module, passes).map_err(CompileError::Pipeline)
}

/// The module's operation as a handle of ours.
fn handle<'c>(module: &Module<'c>) -> Op<'c> {
    // Safety: the handle is used while the module lives.
    unsafe { melior::ir::OperationRef::from_raw(module.as_operation().to_raw()) }
}

fn handle_attr(module: &Module<'_>, name: &str) -> Option<i64> {
    use qd_dialects::ir::OpExt;
    handle(module)
        .attr(name)
        .and_then(qd_dialects::attributes::int)
}
