//! `qd-verify-llvm`: all ops have been converted to LLVM's dialect.
//!
//! Runs after upstream's conversions, which leave ops that they do not know. The
//! error names the operation as in the source, if its name has survived.
//!
//! Rejected:
//! ```mlir
//! vector.print %v : i32
//! // error: 'vector.print' op has no lowering to target 'cpu'
//! ```
//! A call of a function that the module only declares is also an error, except on the cpu, which
//! has a math library.

use qd_dialects::{
    attributes,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt},
    melior::ir::ValueLike,
    options,
    pass::Pass,
};
use std::collections::HashSet;

options! {
    /// Options of `qd-verify-llvm`.
    pub struct VerifyLlvmOptions {
        /// the target of the module, for messages only
        target: String = "cpu",
        /// the device's own dialect, such as nvvm; none for the host, which has a library
        dialect: String = "",
    }
}

/// The pass.
pub struct VerifyLlvm;

/// The cast between a value that was converted and one that was not.
const CAST: &str = "builtin.unrealized_conversion_cast";

impl Pass for VerifyLlvm {
    type Options = VerifyLlvmOptions;
    const NAME: &'static str = "qd-verify-llvm";
    const SUMMARY: &'static str = "Check that all ops have been converted to LLVM's dialect";

    fn run<'c>(module: Op<'c>, options: &VerifyLlvmOptions) -> Result<'c> {
        let (target, own) = (&options.target, &options.dialect);
        let is_left = |op: &Op<'c>| {
            let (dialect, _) = op.full_name().split_once('.').unwrap_or_default();
            dialect != "llvm" && dialect != own && !op.is("builtin.module")
        };
        let all = module.nested();
        if !own.is_empty() {
            calls_inside(&all)?;
        }
        let left: Vec<_> = all.into_iter().filter(is_left).collect();
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

/// An error at the first call of a function that has no body, for a target without a library.
fn calls_inside<'c>(all: &[Op<'c>]) -> Result<'c> {
    let is_declared = |op: &&Op<'c>| op.is("llvm.func") && op.body().is_none();
    let declared: HashSet<String> = all
        .iter()
        .filter(is_declared)
        .filter_map(|op| op.attr("sym_name").and_then(attributes::text))
        .filter(|name| !name.starts_with("llvm."))
        .collect();
    let outside = all.iter().find_map(|op| {
        let callee = op.is("llvm.call").then(|| op.attr("callee"))?;
        let callee = callee.and_then(attributes::symbol_name)?;
        declared.contains(&callee).then_some((op, callee))
    });
    match outside {
        None => Ok(()),
        Some((call, callee)) => Err(Diagnostic::at(
            *call,
            format!("calls '{callee}', and the target has no library that it could be in"),
        )),
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
