//! The units of a compilation, one for each kernel, for telling whether a kernel has changed.

use crate::{
    context,
    diagnostic::{Diagnostics, Failure, Stage, hear},
    parsed::Parsed,
    request::CompileRequest,
};
use qd_artifact::Hash;
use qd_dialects::{
    ir::{Context, Op, OpExt},
    melior::ir::Module,
    pass::run_pipeline,
    report::{Span, span_of},
    serialize,
};
use std::sync::Arc;

/// A kernel, the functions that it calls, and the signatures of the kernels that it dispatches to.
///
/// What a kernel that dispatches requires of its arguments (the scratch that they need, whether they
/// are read) follows from the bodies of those kernels, too: a cache of that by hash has to include
/// their hashes as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name.
    pub kernel: String,
    /// A module of all that, the kernel first, without locations. It can be a
    /// [`Source::Bytecode`](crate::Source::Bytecode).
    pub bytecode: Arc<[u8]>,
    /// A hash of the bytecode. Comments, whitespace, names of values, locations and so names of files,
    /// other kernels and the order of definitions do not change it, nor does the form of the source.
    /// Names of kernels, functions and arguments do, since they are in the artifact.
    pub hash: Hash,
    /// The operations' locations in the source, by their numbers in the bytecode's module, in pre-order:
    /// the module itself is 0. None if the source has no location for one.
    pub origins: Vec<Option<Span>>,
}

/// The units of the kernels that a request asks for, and of those that they dispatch to, in the
/// order of the source. Targets and options are ignored.
///
/// # Errors
///
/// The source is not a module, or lacks a requested kernel.
pub fn units(request: &CompileRequest) -> Result<Vec<Unit>, Diagnostics> {
    let context = context();
    let mut parsed = Parsed::new(&context, &request.source, &mut |_| ())?;
    if let Some(kernels) = &request.kernels {
        parsed.select(kernels)?;
    }
    hear(&context, &mut |_| (), Stage::Parse, || {
        let units = qd_lowering::units(parsed.module()).into_iter();
        units.map(|unit| written(&context, unit)).collect()
    })
}

fn written(context: &Context, unit: qd_lowering::Unit<'_>) -> Result<Unit, Failure> {
    let failure = |message: String| Failure {
        stage: Stage::Parse,
        message,
    };
    let mut module = unit.module;
    let origins = origins(&module);
    run_pipeline(context, &mut module, "strip-debuginfo").map_err(failure)?;
    let bytecode: Arc<[u8]> = serialize::bytecode(&module)
        .ok_or_else(|| failure(format!("kernel '{}' has no binary form", unit.kernel)))?
        .into();
    Ok(Unit {
        kernel: unit.kernel,
        hash: blake3::hash(&bytecode),
        bytecode,
        origins,
    })
}

fn origins(module: &Module<'_>) -> Vec<Option<Span>> {
    // Safety: the handle is used while the module lives.
    let root: Op<'_> = unsafe { Op::from_raw(module.as_operation().to_raw()) };
    let all = root.walk_all().into_iter();
    all.map(|op| span_of(op.location())).collect()
}

#[cfg(test)]
mod tests;
