//! Parsed sources.

use crate::{
    diagnostic::{Diagnostic, Diagnostics, Failure, Sink, Stage, hear},
    request::check_targets,
    source::check_form,
};
use qd_artifact::{Artifact, Kernel, TargetSpec};
use qd_dialects::{
    ir::Context,
    melior::ir::{Module, Operation},
    parse,
    pass::run_pipeline,
};
use qd_lowering::{Emit, KeptCode, Options, Stages, pipelines::Level};
use qd_request::{Source, distinct, no_kernel};

/// A parsed source: a valid module. For programs that inspect it before they compile it, or use it
/// for something else; [`compile`](crate::compile) does not need it.
pub struct Parsed<'c> {
    context: &'c Context,
    module: Module<'c>,
}

impl<'c> Parsed<'c> {
    /// Parses and verifies a source in a context of [`context`](crate::context). Warnings and
    /// remarks go to `sink`.
    ///
    /// # Errors
    ///
    /// It is malformed, or not a valid module.
    pub fn new(
        context: &'c Context,
        source: &Source,
        sink: &mut dyn FnMut(&Diagnostic),
    ) -> Result<Self, Diagnostics> {
        check_form(source)?;
        let module = hear(context, sink, Stage::Parse, || {
            let module = parse::parse(context, source.bytes(), source.path());
            module.ok_or_else(|| Failure {
                stage: Stage::Parse,
                message: "the source is not a module".into(),
            })
        })?;
        Ok(Self { context, module })
    }

    /// The module.
    pub fn module(&self) -> &Module<'c> {
        &self.module
    }

    /// The module, to be changed. It must stay valid.
    pub fn module_mut(&mut self) -> &mut Module<'c> {
        &mut self.module
    }

    /// The kernels and their arguments, without plans.
    ///
    /// # Errors
    ///
    /// One has an argument of a type that no caller can pass.
    pub fn kernels(&self) -> Result<Vec<Kernel>, Diagnostics> {
        hear(self.context, &mut |_| (), Stage::Request, || {
            Ok(qd_lowering::reflect(&self.module)?)
        })
    }

    /// Removes all kernels but these and those that they dispatch to.
    ///
    /// # Errors
    ///
    /// The module lacks one of these kernels: the message lists those that it has.
    pub fn select(&mut self, kernels: &[String]) -> Result<(), Diagnostics> {
        let selected = qd_lowering::select(&mut self.module, kernels);
        selected.map_err(|why| Diagnostic::error(Stage::Request, why.to_string()).into())
    }

    /// Compiles it for targets. The module is lowered in place: it ends up in the last target's own
    /// dialects, and cannot be compiled again. Warnings and remarks go to `sink`, once for each target
    /// that they are about.
    ///
    /// # Errors
    ///
    /// A target does not exist, or the module cannot be compiled for one: the errors for all targets.
    pub fn compile(
        &mut self,
        targets: &[TargetSpec],
        options: &Options,
        sink: &mut dyn FnMut(&Diagnostic),
    ) -> Result<Artifact, Diagnostics> {
        check_targets(targets)?;
        let distinct = distinct(targets);
        let (mut parts, mut errors) = (Vec::new(), Vec::new());
        for (i, target) in distinct.iter().enumerate() {
            let compiled = match i + 1 < distinct.len() {
                true => self.copied().lower(target, options, sink),
                false => self.lower(target, options, sink),
            };
            match compiled {
                Ok(part) => parts.push(part),
                Err(diagnostics) => errors.extend(diagnostics),
            }
        }
        Diagnostics::check(errors)?;
        let artifact = Artifact::joined(parts);
        if artifact.kernels.is_empty() {
            sink(&no_kernel());
        }
        Ok(artifact)
    }

    /// An artifact for one target, which exists.
    fn lower(
        &mut self,
        target: &TargetSpec,
        options: &Options,
        sink: Sink<'_>,
    ) -> Result<Artifact, Diagnostics> {
        self.lower_timed(target, options, None, sink, &mut Stages::new())
    }

    /// As [`lower`](Self::lower), with code of bodies that is kept; and how long each stage took.
    pub(crate) fn lower_timed(
        &mut self,
        target: &TargetSpec,
        options: &Options,
        kept: Option<&dyn KeptCode>,
        sink: Sink<'_>,
        stages: &mut Stages,
    ) -> Result<Artifact, Diagnostics> {
        let module = &mut self.module;
        hear(self.context, sink, Stage::Lower, || {
            let artifact = qd_lowering::compile_timed(module, target, options, kept, stages);
            Ok(artifact?)
        })
    }

    /// Lowers it to a level, for a target, which there is. What is no error goes to `sink`.
    ///
    /// # Errors
    ///
    /// A pass rejects it.
    pub fn lower_to(
        &mut self,
        level: Level,
        target: &TargetSpec,
        sink: &mut dyn FnMut(&Diagnostic),
    ) -> Result<(), Diagnostics> {
        let passes = level.passes(&target.to_string());
        if passes.is_empty() {
            return Ok(());
        }
        let (context, module) = (self.context, &mut self.module);
        hear(context, sink, Stage::Lower, || {
            run_pipeline(context, module, &passes).map_err(|message| Failure {
                stage: Stage::Lower,
                message,
            })
        })
    }

    /// Another of the same module.
    fn copied(&self) -> Self {
        let copy = Operation::clone(&self.module.as_operation());
        Self {
            context: self.context,
            module: Module::from_operation(copy).expect("a module's copy is one"),
        }
    }

    /// As [`compile`](Self::compile) for one target, and yields one kind of output.
    ///
    /// # Errors
    ///
    /// As for [`compile`](Self::compile), and where the target has no such output.
    pub fn translate(
        &mut self,
        target: &TargetSpec,
        options: &Options,
        emit: Emit,
        sink: &mut dyn FnMut(&Diagnostic),
    ) -> Result<Vec<u8>, Diagnostics> {
        let module = &mut self.module;
        hear(self.context, sink, Stage::Lower, || {
            Ok(qd_lowering::translate(module, target, options, emit)?)
        })
    }
}
