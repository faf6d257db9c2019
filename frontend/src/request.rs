//! Compilation as data: a request in, an artifact or diagnostics out.

pub use qd_request::CompileRequest;

use crate::{
    diagnostic::{Diagnostic, Diagnostics, Stage},
    lazy_context,
    parsed::Parsed,
};
use qd_artifact::{Artifact, TargetSpec};
use qd_lowering::targets::Target;
use std::collections::HashSet;

/// Compiles a request. Warnings and remarks are dropped.
///
/// # Errors
///
/// The source is not a module, a target or kernel does not exist, or the module cannot be compiled
/// for one of the targets: all errors for all targets.
pub fn compile(request: &CompileRequest) -> Result<Artifact, Diagnostics> {
    compile_with(request, &mut |_| ())
}

/// As [`compile`]. Warnings and remarks go to `sink`, each once.
///
/// # Errors
///
/// As for [`compile`].
pub fn compile_with(
    request: &CompileRequest,
    sink: &mut dyn FnMut(&Diagnostic),
) -> Result<Artifact, Diagnostics> {
    check_targets(&request.targets)?;
    let mut said = HashSet::new();
    let mut sink = |diagnostic: &Diagnostic| {
        if said.insert(diagnostic.clone()) {
            sink(diagnostic);
        }
    };
    let context = lazy_context();
    let mut parsed = Parsed::new(&context, &request.source, &mut sink)?;
    if let Some(kernels) = &request.kernels {
        parsed.select(kernels)?;
    }
    parsed.compile(&request.targets, &request.options, &mut sink)
}

/// Compiles a text for a target, as `--target=` spells it.
///
/// # Errors
///
/// As for [`compile`].
pub fn compile_text(text: &str, target: &str) -> Result<Artifact, Diagnostics> {
    compile(&CompileRequest::of_text(text, target.parse()?))
}

/// Checks that the targets exist, and that there is at least one. Compiling does so first; this is
/// for programs that do something else before.
///
/// # Errors
///
/// The error of each.
pub fn check_targets(targets: &[TargetSpec]) -> Result<(), Diagnostics> {
    let error = |message: String| Diagnostic::error(Stage::Request, message);
    if targets.is_empty() {
        return Err(error("no target is asked for".into()).into());
    }
    let unknown = targets.iter().filter_map(|target| Target::of(target).err());
    Diagnostics::check(unknown.map(error).collect())
}
