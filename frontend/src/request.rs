//! Compilation as data: a request in, an artifact or diagnostics out.

use crate::{
    diagnostic::{Diagnostic, Diagnostics, Stage},
    lazy_context,
    parsed::Parsed,
    source::Source,
};
use qd_artifact::{Artifact, TargetSpec};
use qd_lowering::{Options, targets::Target};
use std::collections::HashSet;

/// Everything that determines an artifact: compiling it reads no files and no environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompileRequest {
    /// The source.
    pub source: Source,
    /// The targets, at least one. Their devices need not be present. The artifact has the targets in
    /// this order, each once, and a device uses the first that it can run.
    pub targets: Vec<TargetSpec>,
    /// The names of the kernels to compile, together with those that they dispatch to; `None` for
    /// all.
    pub kernels: Option<Vec<String>>,
    /// The other options.
    pub options: Options,
}

impl CompileRequest {
    /// All kernels of a text, for one target.
    pub(crate) fn of_text(text: &str, target: TargetSpec) -> Self {
        Self {
            source: Source::text("<source>", text),
            targets: vec![target],
            ..Self::default()
        }
    }
}

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
