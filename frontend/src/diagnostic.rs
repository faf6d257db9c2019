//! What MLIR reports while the compiler works, as its diagnostics.

pub use qd_request::{Diagnostic, Diagnostics, Stage};

use qd_dialects::{
    ir::Context,
    report::{self, Severity},
};
use qd_lowering::CompileError;

/// Receives the warnings and remarks of a successful compilation.
pub(crate) type Sink<'a> = &'a mut (dyn FnMut(&Diagnostic) + 'a);

/// Does something in a context. Diagnostics that are emitted meanwhile go to the sink, except errors,
/// which are the result if it fails. The failure's own message is used only if none was emitted.
pub(crate) fn hear<T>(
    context: &Context,
    sink: Sink<'_>,
    stage: Stage,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Diagnostics> {
    let (result, heard) = report::listen(context, work);
    let stage = result.as_ref().map_or_else(|why| why.stage, |_| stage);
    let heard = heard.into_iter().map(|said| Diagnostic::of(said, stage));
    let (mut errors, others): (Vec<_>, Vec<_>) =
        heard.partition(|said| said.severity == Severity::Error);
    others.iter().for_each(&mut *sink);
    let failure = match result {
        Ok(result) => {
            // Errors to a pass, and not to who ran it: worth knowing.
            errors.iter().for_each(sink);
            return Ok(result);
        }
        Err(failure) => failure,
    };
    if errors.is_empty() {
        errors.push(Diagnostic::error(failure.stage, failure.message));
    }
    Err(Diagnostics::of(errors))
}

/// The message of a stage that failed.
pub(crate) struct Failure {
    pub stage: Stage,
    pub message: String,
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Self {
        Self {
            stage: match error {
                CompileError::Target(_) => Stage::Request,
                CompileError::Pipeline(_) => Stage::Lower,
                CompileError::Llvm(_) | CompileError::Spirv(_) => Stage::Emit,
            },
            message: error.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qd_dialects::{diagnostic, melior::ir::Location};

    #[test]
    fn what_is_an_error_to_a_pass_alone_is_heard() {
        let context = crate::context();
        let error = |message: &str| {
            let place = Location::new(&context, "k.mlir", 3, 4);
            diagnostic::Diagnostic::new(place, message).emit();
        };
        let mut said = Vec::new();
        let mut sink = |heard: &Diagnostic| said.push(heard.to_string());
        let done = hear(&context, &mut sink, Stage::Lower, || {
            error("was got over");
            Ok(7)
        });
        assert_eq!(done, Ok(7));
        assert_eq!(said, ["k.mlir:3:4: error: was got over"]);

        // Where there is no result it is the error, and not said to the sink, too.
        let done = hear::<()>(&context, &mut |_| panic!("said"), Stage::Lower, || {
            error("was not");
            error("was not");
            let stage = Stage::Emit;
            let message = "failed".into();
            Err(Failure { stage, message })
        });
        let errors = done.expect_err("it failed");
        assert_eq!(errors.to_string(), "k.mlir:3:4: error: was not");
        assert_eq!(errors[0].stage, Stage::Emit);
    }
}
