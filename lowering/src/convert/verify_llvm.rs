//! `qd-verify-llvm`: everything has become LLVM's dialect.
//!
//! After upstream's conversions, which leave behind what they do not know. The
//! error names the operation as the source has it, where its name has survived.
//!
//! Rejected:
//! ```mlir
//! vector.print %v : i32
//! // error: 'vector.print' op has no lowering to target 'cpu'
//! ```

use qd_dialects::{
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt},
    melior::ir::{ValueLike, operation::OperationLike},
    options,
    pass::Pass,
};

options! {
    /// Options of `qd-verify-llvm`.
    pub struct VerifyLlvmOptions {
        /// what the module is for: cpu, or an architecture of nvptx
        target: String = "cpu",
    }
}

/// The pass.
pub struct VerifyLlvm;

/// What stands between a value that was converted and one that was not.
const CAST: &str = "builtin.unrealized_conversion_cast";

impl Pass for VerifyLlvm {
    type Options = VerifyLlvmOptions;
    const NAME: &'static str = "qd-verify-llvm";
    const SUMMARY: &'static str = "Check that all has been converted to LLVM's dialect";

    fn run<'c>(module: Op<'c>, options: &VerifyLlvmOptions) -> Result<'c> {
        let target = &options.target;
        let is_left = |op: &Op<'c>| {
            let (dialect, _) = op.full_name().split_once('.').unwrap_or_default();
            let native = if target == "cpu" { "" } else { "nvvm" };
            dialect != "llvm" && dialect != native && !op.is("builtin.module")
        };
        let left: Vec<_> = module.nested().into_iter().filter(is_left).collect();
        // A cast is there because of another op, or of a type.
        let culprit = left.iter().find(|op| !op.is(CAST)).or(left.first());
        match culprit {
            None => Ok(()),
            Some(cast) if cast.is(CAST) => Err(Diagnostic::new(
                cast.location(),
                format!("{} has no form on target '{target}'", converted(*cast)),
            )),
            Some(op) => Err(Diagnostic::at(
                *op,
                format!("has no lowering to target '{target}'"),
            )),
        }
    }
}

/// What a cast is of, in the source's types.
fn converted(cast: Op<'_>) -> String {
    let types = cast
        .operand_values()
        .into_iter()
        .chain(cast.result_values());
    let mut types = types.map(|value| value.r#type().to_string());
    match types.find(|r#type| !r#type.starts_with("!llvm.")) {
        Some(r#type) => format!("a value of type '{}'", r#type),
        None => "a value".into(),
    }
}
